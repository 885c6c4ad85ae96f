package io.firesteel.json.files

import io.firesteel.json.{Backoff, JsonCounts, JsonText, Readers, Root, Utf8}

import com.fasterxml.jackson.core.{JsonFactory, JsonParser}
import org.apache.hadoop.io.Text

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.catalyst.json.{JacksonParser, JSONOptions}
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/**
 * Spark's parser for the lines of a file, which reads plain documents by this room's readers. Its
 * caller is Spark: lines, modes and corrupt records are as they are without it.
 *
 * A line that is no plain object, or has a value that is not read exactly, is read by Spark's parser.
 * Only that skips rows by `filters`, because Spark filters again above the scan.
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

  private[this] val root = new Root(schema.names)
  private[this] val fields =
    schema.map(field => Readers.of(field.dataType, options.zoneId, source = true)).toArray
  private[this] val row = new UnsafeRowWriter(fields.length, fields.length * 32)

  override def parse[T](
      record: T,
      createParser: (JsonFactory, T) => JsonParser,
      recordLiteral: T => UTF8String): Iterable[InternalRow] = {
    val known = record match {
      case line: Text => isRead(UTF8String.fromBytes(line.getBytes, 0, line.getLength))
      case _ => false
    }
    if (known) row.getRow :: Nil else super.parse(record, createParser, recordLiteral)
  }

  private def isRead(line: UTF8String): Boolean = {
    counts.came(line.numBytes)
    if (!backoff.looks()) {
      counts.unseen()
      false
    } else {
      val isPlain = line.numBytes <= JsonText.MaxDocument && findsRoot(line)
      val isExact = isPlain && write()
      backoff.learn(isExact)
      if (!isPlain) counts.notPlain() else if (!isExact) counts.inexact()
      isExact
    }
  }

  private def findsRoot(line: UTF8String): Boolean = {
    root.text.set(line)
    val from = root.text.skipSpace(root.text.start)
    // Spark refuses malformed bytes anywhere in a line, not only in a value that is read.
    root.text.byteAt(from) == '{' && root.find(from) >= 0 &&
    Utf8.isValid(root.text.bytes, from, root.until)
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
