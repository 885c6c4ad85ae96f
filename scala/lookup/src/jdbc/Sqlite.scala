package io.firesteel.lookup.jdbc

import java.sql.SQLException

import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types.{BooleanType, DateType, FloatType}
import org.apache.spark.sql.types.{TimestampNTZType, TimestampType}

/** SQLite compares row values only with a subquery, and has no types for dates and booleans. */
private[jdbc] case object Sqlite extends Database {

  /** Its codes for "busy" and "locked": another connection is writing. */
  private val locked = Set(5, 6)

  override def several(columns: Seq[String], count: Int): String = {
    val row = columns.map(_ => "?").mkString("(", ", ", ")")
    columns.mkString("(", ", ", ")") + " IN " + Seq.fill(count)(row).mkString("(VALUES ", ", ", ")")
  }

  // The lower byte; the rest gives details of the lock.
  override def isTransient(e: SQLException): Boolean = locked.contains(e.getErrorCode & 0xff)

  override def isSameName(one: String, other: String): Boolean = one.equalsIgnoreCase(other)

  // It takes a text as the number that it is, if it is one.
  override def comparesAsText(column: DatabaseColumn): Boolean = column.isOfExactNumbers

  override protected def parameter(
      column: DatabaseColumn,
      dialect: JdbcDialect): Option[KeyParameter] = column.dataType match {
    // Stored as a number or as text, as the writer chose.
    case BooleanType | DateType | TimestampType | TimestampNTZType => None
    case FloatType => None // stored in double precision
    case _ => super.parameter(column, dialect)
  }
}
