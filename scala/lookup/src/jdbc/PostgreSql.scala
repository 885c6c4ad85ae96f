package io.firesteel.lookup.jdbc

import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types.{BooleanType, StringType}

/**
 * PostgreSQL shows many types as text, and refuses to compare them with a parameter declared so.
 *
 * An undeclared parameter takes the type of the column, so that its index is used and `CHAR` is
 * compared with its blanks. Where that could fail on a value, the column is cast instead.
 */
private[jdbc] case object PostgreSql extends Database {

  private val texts = Set("text", "varchar", "bpchar", "name", "citext")

  /** How a uuid is shown, and so the only text that can be equal to one. */
  private val uuid = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"

  override protected def quoted(column: DatabaseColumn, dialect: JdbcDialect): String = {
    val name = super.quoted(column, dialect)
    val asText = column.dataType == StringType &&
      column.typeName.exists(t => !texts.contains(t) && t != "uuid")
    // A host's cast ends in /32 where what the server sends, and so Spark reads, does not.
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
