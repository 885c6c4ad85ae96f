package io.firesteel.lookup.jdbc

import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types.{BooleanType, StringType}

/**
 * PostgreSQL returns many types as text, and refuses to compare them with a parameter declared as
 * text.
 *
 * An undeclared parameter takes the type of the column, so that PostgreSQL uses the column's index
 * and compares `CHAR` with its blanks. If that could fail on a value, the column is cast instead.
 */
private[jdbc] case object PostgreSql extends Database {

  private val texts = Set("text", "varchar", "bpchar", "name", "citext")

  /** The text that PostgreSQL returns for a uuid, so the only text that can equal one. */
  private val uuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"

  /**
   * After some questions the driver asks for binary values, and makes other texts of numbers and
   * points than the server's. The server's own text is that of Spark's JDBC source, which asks once.
   */
  override def read(column: DatabaseColumn, quoted: String): String =
    if (isText(column))
      s"CASE WHEN $quoted IS DISTINCT FROM NULL THEN concat($quoted) END AS $quoted"
    else quoted

  /** Whether Spark reads a column of another type as text. */
  private def isText(column: DatabaseColumn): Boolean = column.dataType == StringType &&
    column.typeName.exists(name => !texts.contains(name) && name != "uuid")

  /** The driver reads a boolean as `t`, and the server writes `true`. */
  override def comparesAsText(column: DatabaseColumn): Boolean = !column.typeName.contains("bool")

  override protected def quoted(column: DatabaseColumn, dialect: JdbcDialect): String = {
    val name = super.quoted(column, dialect)
    val asText = isText(column)
    // The cast of a host ends in /32; the text that the server sends, and Spark reads, does not.
    if (asText && column.typeName.contains("inet")) s"abbrev($name)"
    else if (asText) s"CAST($name AS text)"
    else name
  }

  override protected def parameter(
      column: DatabaseColumn,
      dialect: JdbcDialect): Option[KeyParameter] = column.dataType match {
    case StringType if column.typeName.contains("uuid") =>
      Some(KeyParameters.untypedString(_.matches(uuid)))
    case StringType => Some(KeyParameters.untypedString(hasNoZero))
    case BooleanType if column.typeName.contains("bit") => None
    case _ => super.parameter(column, dialect)
  }

  /** The server refuses text with the character 0, which it cannot store. */
  private def hasNoZero(text: String): Boolean = text.indexOf(0) < 0
}
