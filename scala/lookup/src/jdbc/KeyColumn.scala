package io.firesteel.lookup.jdbc

import java.sql.PreparedStatement

import org.apache.spark.sql.catalyst.InternalRow

/**
 * A column by which the database is asked.
 *
 * @param sql the column in the statement, quoted
 */
private[jdbc] final class KeyColumn(val sql: String, val parameter: KeyParameter)
  extends Serializable

/** Passes the values of one key column to JDBC. */
private[jdbc] trait KeyParameter extends Serializable {

  /** The value as JDBC takes it; none if no row of the database can have it. */
  def of(row: InternalRow, ordinal: Int): Option[AnyRef]

  def set(statement: PreparedStatement, at: Int, value: AnyRef): Unit
}

private[jdbc] object KeyParameter {

  def apply[T <: AnyRef](read: (InternalRow, Int) => T)(
      setter: (PreparedStatement, Int, T) => Unit): KeyParameter =
    partial((row, ordinal) => Some(read(row, ordinal)))(setter)

  /** For values that the database can store only in part. */
  def partial[T <: AnyRef](read: (InternalRow, Int) => Option[T])(
      setter: (PreparedStatement, Int, T) => Unit): KeyParameter = new KeyParameter {
    override def of(row: InternalRow, ordinal: Int): Option[AnyRef] = read(row, ordinal)
    override def set(statement: PreparedStatement, at: Int, value: AnyRef): Unit =
      setter(statement, at, value.asInstanceOf[T])
  }
}
