package io.firesteel.lookup.jdbc

import java.lang.{Boolean => JavaBoolean, Double => JavaDouble, Float => JavaFloat}
import java.lang.{Integer => JavaInteger, Long => JavaLong}
import java.sql.Types

import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.jdbc.JdbcDialect

/**
 * How to set each type of key: with the setters that Spark's JDBC source writes with, so that a
 * value that it wrote or read is found.
 */
private[jdbc] object KeyParameters {

  val boolean: KeyParameter =
    KeyParameter((row, i) => JavaBoolean.valueOf(row.getBoolean(i)))((s, at, v) =>
      s.setBoolean(at, v))

  val byte: KeyParameter =
    KeyParameter((row, i) => JavaInteger.valueOf(row.getByte(i).toInt))((s, at, v) =>
      s.setInt(at, v))

  val short: KeyParameter =
    KeyParameter((row, i) => JavaInteger.valueOf(row.getShort(i).toInt))((s, at, v) =>
      s.setInt(at, v))

  val int: KeyParameter =
    KeyParameter((row, i) => JavaInteger.valueOf(row.getInt(i)))((s, at, v) => s.setInt(at, v))

  val long: KeyParameter =
    KeyParameter((row, i) => JavaLong.valueOf(row.getLong(i)))((s, at, v) => s.setLong(at, v))

  val float: KeyParameter =
    KeyParameter((row, i) => JavaFloat.valueOf(row.getFloat(i)))((s, at, v) => s.setFloat(at, v))

  val double: KeyParameter =
    KeyParameter((row, i) => JavaDouble.valueOf(row.getDouble(i)))((s, at, v) =>
      s.setDouble(at, v))

  /** For a database without NaN and infinities, whose driver would throw. */
  val finiteDouble: KeyParameter = KeyParameter.partial((row, i) =>
    Some(JavaDouble.valueOf(row.getDouble(i))).filter(d => JavaDouble.isFinite(d)))((s, at, v) =>
    s.setDouble(at, v))

  val finiteFloat: KeyParameter = KeyParameter.partial((row, i) =>
    Some(JavaFloat.valueOf(row.getFloat(i))).filter(f => JavaFloat.isFinite(f)))((s, at, v) =>
    s.setFloat(at, v))

  def decimal(precision: Int, scale: Int): KeyParameter =
    KeyParameter((row, i) => row.getDecimal(i, precision, scale).toJavaBigDecimal)((s, at, v) =>
      s.setBigDecimal(at, v))

  val string: KeyParameter =
    KeyParameter((row, i) => row.getUTF8String(i).toString)((s, at, v) => s.setString(at, v))

  /** Text without trailing blanks. */
  val trimmed: KeyParameter =
    KeyParameter((row, i) => row.getUTF8String(i).trimRight.toString)((s, at, v) =>
      s.setString(at, v))

  /** Text whose type the database takes from the column that it is compared with. */
  def untypedString(canBe: String => Boolean): KeyParameter =
    KeyParameter.partial((row, i) => Some(row.getUTF8String(i).toString).filter(canBe))(
      (s, at, v) => s.setObject(at, v, Types.OTHER))

  /** Text for a column that can only hold some texts. */
  def stringIf(canBe: String => Boolean): KeyParameter =
    KeyParameter.partial((row, i) => Some(row.getUTF8String(i).toString).filter(canBe))(
      (s, at, v) => s.setString(at, v))

  val binary: KeyParameter =
    KeyParameter((row, i) => row.getBinary(i))((s, at, v) => s.setBytes(at, v))

  val date: KeyParameter =
    KeyParameter((row, i) => DateTimeUtils.toJavaDate(row.getInt(i)))((s, at, v) =>
      s.setDate(at, v))

  val timestamp: KeyParameter =
    KeyParameter((row, i) => DateTimeUtils.toJavaTimestamp(row.getLong(i)))((s, at, v) =>
      s.setTimestamp(at, v))

  def timestampNtz(dialect: JdbcDialect): KeyParameter =
    KeyParameter((row, i) =>
      dialect.convertTimestampNTZToJavaTimestamp(
        DateTimeUtils.microsToLocalDateTime(row.getLong(i))))((s, at, v) =>
      s.setTimestamp(at, v))
}
