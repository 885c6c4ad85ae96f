package io.firesteel.lookup.jdbc

import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types.{DoubleType, TimestampNTZType, TimestampType}

/** SQL Server has neither row values nor more than 2,100 parameters in a statement. */
private[jdbc] case object SqlServer extends Database {

  override protected def maxParameters: Int = 2000

  override def maxKeys(columns: Int): Int = if (columns == 1) maxParameters else 200

  override def several(columns: Seq[String], count: Int): String = AnyOf.several(columns, count)

  override protected def parameter(
      column: DatabaseColumn,
      dialect: JdbcDialect): Option[KeyParameter] = column.dataType match {
    case DoubleType => Some(KeyParameters.finiteDouble)
    // In steps of 1/300 s, of which JDBC shows three digits.
    case TimestampType | TimestampNTZType if column.typeName.contains("datetime") => None
    case _ => super.parameter(column, dialect)
  }
}
