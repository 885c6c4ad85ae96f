package io.firesteel.json.files

import io.firesteel.json.{Backoff, JsonCounts, JsonObjections, JsonOptions, JsonText, Readers, Root, Utf8}

import com.fasterxml.jackson.core.{JsonFactory, JsonParser}
import org.apache.hadoop.io.Text

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.catalyst.json.{JacksonParser, JSONOptions}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * Spark's parser for the lines of a file, which reads plain documents by this room's readers. Its
 * caller is Spark: lines, modes and corrupt records are as they are without it.
 *
 * A line that is no plain object, or has a value that is not read exactly, is read by Spark's parser.
 *
 * A row is valid until the next line.
 *
 * @param schema the columns that are read, without the one for corrupt records
 */
final private[files] class DocumentParser(
    schema: StructType,
    options: JSONOptions,
    filters: Seq[Filter],
    counts: JsonCounts,
    backoff: Backoff = new Backoff)
  extends JacksonParser(schema, options, true, filters) {

  import DocumentParser._

  private[this] val root = new Root(schema.names, plainNames = true)
  private[this] val fields =
    schema.map(field => Readers.of(field.dataType, options.zoneId, source = true)).toArray
  private[this] val row = new UnsafeRowWriter(fields.length, fields.length * 32)

  private[this] val pushed =
    if (filters.isEmpty || !SQLConf.get.jsonFilterPushDown) null
    else new PushedFilters(filters, schema, options.zoneId, root)

  // Settings may have changed since the scan was planned. An early stop could hide the error of a
  // time that Spark 2 would have read.
  private[this] val isOn = SQLConf.get.getConf(SQLConf.JSON_EXACT_STRING_PARSING) &&
    (!JsonObjections.hasTimes(schema) || JsonOptions.timePolicy == "CORRECTED")

  override def parse[T](
      record: T,
      createParser: (JsonFactory, T) => JsonParser,
      recordLiteral: T => UTF8String): Iterable[InternalRow] = {
    val outcome = record match {
      case line: Text if isOn => read(UTF8String.fromBytes(line.getBytes, 0, line.getLength))
      case _ => Sparks
    }
    if (outcome == Read) row.getRow :: Nil
    else if (outcome == Skipped) Nil
    else super.parse(record, createParser, recordLiteral)
  }

  private def read(line: UTF8String): Int = {
    counts.came(line.numBytes)
    if (!backoff.looks()) {
      counts.unseen()
      Sparks
    } else {
      val found = if (line.numBytes <= JsonText.MaxDocument) find(line) else Sparks
      val outcome = if (found != Read || write()) found else Inexact
      backoff.learn(outcome == Read || outcome == Skipped)
      if (outcome == Sparks) counts.notPlain()
      else if (outcome == Inexact) counts.inexact()
      outcome
    }
  }

  private def find(line: UTF8String): Int = {
    val text = root.text
    text.set(line)
    if (pushed != null) pushed.begin()
    val from = text.skipSpace(text.start)
    if (text.byteAt(from) != '{') Sparks
    else {
      val until = root.find(from)
      if (until == JsonText.Stopped) if (pushed.isReached) Skipped else Sparks
      // Spark refuses malformed bytes anywhere in a line, not only in a value that is read.
      else if (until >= 0 && Utf8.isValid(text.bytes, from, until)) Read
      else Sparks
    }
  }

  private def write(): Boolean = {
    row.reset()
    row.zeroOutNullBytes()
    var exact = true
    var i = 0
    while (exact && i < fields.length) {
      val from = root.members.starts(i)
      if (from < 0) fields(i).writeNull(row, i)
      else exact = fields(i).read(root.text, from, root.members.ends(i), row, i)
      i += 1
    }
    if (!exact) counts.missed(i - 1)
    exact
  }
}

private object DocumentParser {

  /** What has become of a line: it is in the row, has none, or is Spark's. */
  final val Read = 0
  final val Skipped = 1
  final val Inexact = 2
  final val Sparks = 3
}
