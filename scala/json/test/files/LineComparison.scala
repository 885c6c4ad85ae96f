package io.firesteel.json.files

import io.firesteel.json.{Backoff, Comparison, JsonCounts}

import org.apache.hadoop.io.Text

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.json.{CreateJacksonParser, JSONOptionsInRead, JacksonParser}
import org.apache.spark.sql.catalyst.util.FailureSafeParser
import org.apache.spark.sql.sources.Filter
import org.apache.spark.sql.types.StructType
import org.apache.spark.unsafe.types.UTF8String

/** Spark's parser of lines and ours over the same lines, byte for byte of the rows. */
final class LineComparison(
    schema: StructType,
    options: Map[String, String],
    filters: Seq[Filter] = Nil) {

  private val read = new JSONOptionsInRead(options, "America/Los_Angeles", "_corrupt_record")
  private val columns = StructType(schema.filterNot(_.name == read.columnNameOfCorruptRecord))
  private val copying = UnsafeProjection.create(schema)
  private val sparks = safe(new JacksonParser(columns, read, true, filters))
  private val ours = safe(
    new DocumentParser(columns, read, filters, JsonCounts.none, new Backoff(Int.MaxValue)))

  /** Lines that were read here. */
  var own = 0

  private def safe(parser: JacksonParser): FailureSafeParser[Text] =
    new FailureSafeParser[Text](
      line => {
        val rows = parser.parse[Text](line, CreateJacksonParser.text(_, _), textOf)
        if (rows.headOption.exists(_.isInstanceOf[UnsafeRow])) own += 1
        rows
      },
      read.parseMode,
      schema,
      read.columnNameOfCorruptRecord
    )

  private def textOf(line: Text): UTF8String =
    UTF8String.fromBytes(line.getBytes, 0, line.getLength)

  private def rows(
      parser: FailureSafeParser[Text],
      line: Array[Byte]): Either[String, Seq[UnsafeRow]] =
    try Right(parser.parse(new Text(line)).map(copying(_).copy()).toSeq)
    catch { case error: Exception => Left(Comparison.condition(error)) }

  /** What differs, if anything. */
  def difference(line: Array[Byte]): Option[String] = {
    val (our, spark) = (rows(ours, line), rows(sparks, line))
    Option.when(our != spark)(
      s"line: ${new String(line, "UTF-8")}\n  ours:    ${show(our)}\n  Spark's: ${show(spark)}")
  }

  private def show(rows: Either[String, Seq[UnsafeRow]]): String =
    rows.fold(identity, _.map(_.toSeq(schema).mkString(", ")).mkString("; "))
}
