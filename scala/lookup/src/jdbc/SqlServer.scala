package io.firesteel.lookup.jdbc

import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types.{DoubleType, FloatType, StringType, TimestampNTZType, TimestampType}

/** SQL Server has neither row values nor more than 2,100 parameters in a statement. */
private[jdbc] case object SqlServer extends Database {

  override protected def maxParameters: Int = 2000

  /** The server refuses any other text, and with it the whole statement. */
  private val guid = "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"

  override def maxKeys(columns: Int): Int =
    if (columns == 1) maxParameters else math.min(200, maxParameters / columns)

  override def isSameName(one: String, other: String): Boolean = one.equalsIgnoreCase(other)

  override def several(columns: Seq[String], count: Int): String = AnyOf.several(columns, count)

  // It compares texts without trailing blanks.
  override protected def padded: Option[KeyParameter] = Some(KeyParameters.string)

  override protected def refusesEqual(typeName: String): Boolean =
    Set("text", "ntext", "image", "xml", "geography", "geometry").contains(typeName)

  override protected def parameter(
      column: DatabaseColumn,
      dialect: JdbcDialect): Option[KeyParameter] = column.dataType match {
    case DoubleType => Some(KeyParameters.finiteDouble)
    case FloatType => Some(KeyParameters.finiteFloat)
    case StringType if column.typeName.contains("uniqueidentifier") =>
      Some(KeyParameters.stringIf(_.matches(guid)))
    // In steps of 1/300 s; JDBC shows three digits of them.
    case TimestampType | TimestampNTZType if column.typeName.contains("datetime") => None
    // The driver sends a local time, which the server takes for one at offset zero.
    case TimestampType if column.typeName.exists(_.startsWith("datetimeoffset")) => None
    case _ => super.parameter(column, dialect)
  }
}
