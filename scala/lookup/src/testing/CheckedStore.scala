package io.firesteel.lookup.testing

import io.firesteel.lookup.SupportsLookup

import scala.util.control.NonFatal

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{ByteType, DataType, IntegerType, LongType, ShortType, StringType, StructField, StructType}

/**
 * The rows that a connector should hold.
 *
 * @param keys all columns by which it can be asked, in the order of the table
 * @param missing keys without rows, values of `keys`
 */
private[testing] final class CheckedStore(
    val schema: StructType,
    val keys: StructType,
    val rows: Seq[UnsafeRow],
    val missing: Seq[Row]) {

  /** These columns of all rows. */
  def project(columns: StructType): UnsafeRow => UnsafeRow = {
    val projection = UnsafeProjection.create(columns.fields.toSeq.map { field =>
      BoundReference(schema.fieldIndex(field.name), field.dataType, nullable = true)
    })
    row => projection(row).copy()
  }

  /** The distinct keys of the rows, then those without rows; none with a null. */
  def keysToAsk(asked: StructType): Seq[UnsafeRow] = {
    val places = asked.fieldNames.toSeq.map(keys.fieldIndex)
    val absent = missing.map(key => Row.fromSeq(places.map(key.get)))
    (rows.map(project(asked)) ++ absent.map(new RowText(asked).of)).filterNot(_.anyNull).distinct
  }

  /** The rows of some keys. */
  def rowsOf(asked: StructType, some: Set[UnsafeRow]): Seq[UnsafeRow] = {
    val key = project(asked)
    rows.filter(row => some.contains(key(row)))
  }
}

private[testing] object CheckedStore {

  def of(table: SupportsLookup, rows: Seq[Row], missing: Seq[Row]): CheckedStore = {
    val schema = StructType(table.columns().toSeq.map(column =>
      StructField(column.name, column.dataType, column.nullable)))
    if (rows.isEmpty) CheckFailure(table.name, "no rows were given. Call rows(...) first.")
    rows.find(_.length != schema.length).foreach(row =>
      CheckFailure(
        table.name,
        s"the row $row has ${row.length} columns and the table has ${schema.length}: " +
          schema.fieldNames.mkString(", ")))
    val keys = StructType(KeyChoice(table, schema, schema.fieldNames.toSeq))
    missing.find(_.length != keys.length).foreach(key =>
      CheckFailure(
        table.name,
        s"the missing key $key must have the values of ${keys.fieldNames.mkString(", ")}"))
    val absent = if (missing.nonEmpty) missing else unknown(schema, keys, rows).toSeq
    new CheckedStore(schema, keys, rows.map(new RowText(schema).of), absent)
  }

  /** A key that no row has, if its types are simple. */
  private def unknown(schema: StructType, keys: StructType, rows: Seq[Row]): Option[Row] = {
    val values = keys.fields.toSeq.map { field =>
      val place = schema.fieldIndex(field.name)
      val known = rows.map(_.get(place)).toSet
      valuesOf(field.dataType).find(!known.contains(_))
    }
    if (values.forall(_.isDefined)) Some(Row.fromSeq(values.flatten)) else None
  }

  private def valuesOf(dataType: DataType): Iterator[Any] = dataType match {
    case ByteType => Iterator.range(1, 127).map(_.toByte)
    case ShortType => Iterator.range(101, 30000).map(_.toShort)
    case IntegerType => Iterator.from(1000001)
    case LongType => Iterator.from(1000001).map(_.toLong)
    case _: StringType => Iterator.from(1).map(n => s"missing $n")
    case _ => Iterator.empty
  }
}

/** Asks a table for its keys. */
private[testing] object KeyChoice {

  /** The columns that it chose, in the order of the table; an error if there are none. */
  def apply(table: SupportsLookup, schema: StructType, among: Seq[String]): Seq[StructField] = {
    val chosen = optional(table, schema, among)
    if (chosen.isEmpty) {
      CheckFailure(
        table.name,
        s"lookupKeys(${among.mkString(", ")}) returned no column. It gets all columns of the " +
          "table here, and must return those by which the store can be asked."
      )
    }
    chosen
  }

  def optional(table: SupportsLookup, schema: StructType, among: Seq[String]): Seq[StructField] = {
    val chosen = CheckFailure.in(table.name, s"lookupKeys(${among.mkString(", ")})")(
      table.lookupKeys(among.toArray)).toSeq
    chosen.find(!among.contains(_)).foreach(other =>
      CheckFailure(
        table.name,
        s"lookupKeys(${among.mkString(", ")}) returned $other, which is not one of these. It " +
          "must return some of the columns that it gets."))
    schema.fields.toSeq.filter(field => chosen.contains(field.name))
  }
}

/** Rows of one schema: as Spark keeps them, and as text. */
private[testing] final class RowText(schema: StructType) {
  private val toInternal = CatalystTypeConverters.createToCatalystConverter(schema)
  private val toExternal = CatalystTypeConverters.createToScalaConverter(schema)
  private val copy = UnsafeProjection.create(schema)

  def of(row: Row): UnsafeRow = copied(toInternal(row).asInstanceOf[InternalRow])
  def copied(row: InternalRow): UnsafeRow = copy(row).copy()
  def text(row: InternalRow): String = String.valueOf(toExternal(row))
}

/** Raises what a check has found. */
private[testing] object CheckFailure {

  /** Tells our own failures from assertions of the connector. */
  private final class CheckFailedError(text: String, cause: Throwable)
    extends AssertionError(text, cause)

  def apply(table: String, text: String, cause: Throwable = null): Nothing =
    throw new CheckFailedError(s"The lookup connector $table: $text", cause)

  /** Runs a method of the connector, which must not throw. */
  def in[T](table: String, method: String)(call: => T): T =
    try call
    catch {
      case ours: CheckFailedError => throw ours
      case NonFatal(thrown) => apply(table, s"$method threw $thrown", thrown)
    }
}
