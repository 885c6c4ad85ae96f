package io.firesteel.lookup.jdbc

import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types.{BooleanType, DoubleType, FloatType, StringType}

/** MySQL and MariaDB. */
private[jdbc] case object MySql extends Database {

  // It strips the blanks when it reads, and in some collations counts them when it compares.
  override protected def padded: Option[KeyParameter] = Some(KeyParameters.trimmed)

  override def isSameName(one: String, other: String): Boolean = one.equalsIgnoreCase(other)

  // It compares a number with a text as doubles: it may find more rows, and a wrong text none.
  override def comparesAsText(column: DatabaseColumn): Boolean = column.isOfExactNumbers

  override protected def parameter(
      column: DatabaseColumn,
      dialect: JdbcDialect): Option[KeyParameter] = column.dataType match {
    case BooleanType => None // any number other than 0 reads as true
    case FloatType => None // compared as a double with the decimal text of the parameter
    case DoubleType => Some(KeyParameters.finiteDouble)
    // A text is a JSON string there, which no object equals.
    case StringType if column.typeName.exists(_.equalsIgnoreCase("json")) => None
    case _ => super.parameter(column, dialect)
  }
}
