package io.firesteel.lookup.jdbc

import java.util.Locale

import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.types.{ByteType, CharType, DataType, DecimalType, FloatType, IntegerType, LongType, ShortType, StringType, StructField, TimestampNTZType, TimestampType}

/**
 * A column of a table, and its type in the database.
 *
 * @param field the column of the table
 * @param inferred the column as Spark's JDBC source reads it by itself, with its metadata
 */
private[jdbc] final case class DatabaseColumn(field: StructField, inferred: StructField) {

  def name: String = field.name

  val dataType: DataType = plain(field)

  /** The database's own name of the type, in lower case. */
  val typeName: Option[String] =
    Some("jdbcClientType").filter(noted).map(
      inferred.metadata.getString(_).toLowerCase(Locale.ROOT))

  /**
   * The reason why an equal value might not be found: Spark reads another value than the database
   * stores, and the database has no row with the value that Spark reads.
   */
  def changed: Option[String] =
    if (isConverted) Some(s"Spark reads it as ${dataType.sql}, and cannot write that back")
    else if (!isSameKind) {
      Some(s"it is read as ${dataType.sql}, where Spark itself reads ${plain(inferred).sql}")
    } else {
      dataType match {
        case _ if typeName.contains("decfloat") =>
          Some("each of its values has its own number of decimals, and Spark has a fixed number")
        case decimal: DecimalType if !isOfScale(decimal.scale) =>
          Some(s"it may have more than the ${decimal.scale} decimals of ${decimal.sql}, and " +
            "Spark cuts the rest")
        case ByteType | ShortType | IntegerType | LongType if !isOfScale(0) =>
          Some("it has decimals, which Spark cuts")
        case TimestampType | TimestampNTZType if !isOfMicroseconds =>
          Some("it is finer than microseconds, and Spark cuts the rest")
        // JDBC's `FLOAT` has double precision, but Spark reads it as single: its keys are rounded.
        case FloatType if !typeName.exists(DatabaseColumn.singlePrecision) =>
          Some("it has double precision, and Spark rounds it to FLOAT")
        case _ => None
      }
    }

  /** Whether Spark reads a column as text that it would not read so by itself. */
  def isReadAsText: Boolean = dataType == StringType && plain(inferred) != StringType

  /** Whether the column itself has whole or decimal numbers. */
  def isOfExactNumbers: Boolean = isExactNumber(plain(inferred))

  /** Whether values are padded with blanks to the length of the type. */
  def isPadded: Boolean = CharVarcharUtils.getRawType(field.metadata).exists {
    case _: CharType => true
    case _ => false
  } || field.dataType.isInstanceOf[CharType]

  /** Spark reads such columns as another type, and does not write them back. */
  private def isConverted: Boolean =
    Seq("logical_time_type", "binarylong", "rowid").exists(noted) || typeName.contains("year")

  /** Whether the table has Spark's type for the column, or one with the same values. */
  private def isSameKind: Boolean = (plain(inferred), dataType) match {
    case (own, read) if own == read => true
    case (_, StringType) => true
    case (own, read) if isExactNumber(own) && isExactNumber(read) => true
    case (TimestampType | TimestampNTZType, TimestampType | TimestampNTZType) => true
    case _ => false
  }

  private def isExactNumber(of: DataType): Boolean = of match {
    case ByteType | ShortType | IntegerType | LongType | _: DecimalType => true
    case _ => false
  }

  /**
   * Whether values have at most this number of decimals. For a `NUMERIC` without precision, drivers
   * report 0 or, as Oracle's, less, and Spark assumes some: such a column may have any number of
   * them.
   */
  private def isOfScale(most: Int): Boolean = plain(inferred) match {
    case own: DecimalType if noted("scale") =>
      val declared = inferred.metadata.getLong("scale").max(0L)
      declared == own.scale && declared <= most
    case own: DecimalType => own.scale <= most
    case _ => true
  }

  private def isOfMicroseconds: Boolean =
    !noted("scale") || inferred.metadata.getLong("scale") <= 6

  private def noted(key: String): Boolean = inferred.metadata.contains(key)

  private def plain(column: StructField): DataType =
    CharVarcharUtils.replaceCharVarcharWithString(column.dataType)
}

private[jdbc] object DatabaseColumn {

  private val singlePrecision = Set("float4", "real", "binary_float")

  /** Whether a column has the metadata of Spark's JDBC source. */
  def hasNotes(field: StructField): Boolean = field.metadata.contains("jdbcClientType")
}
