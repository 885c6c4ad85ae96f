package io.firesteel.lookup.jdbc

import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.connector.expressions.{Expression, Literal, NamedReference}
import org.apache.spark.sql.connector.expressions.filter.{AlwaysFalse, AlwaysTrue, And, Not, Or, Predicate}
import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types.{BinaryType, DataType, DateType, FloatType, StringType, TimestampNTZType, TimestampType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The filters that a database may ask: those that keep each row that Spark's would keep. The join asks
 * all filters again, so that more rows do no harm.
 *
 * A database may find texts equal that Spark tells apart (`'ch' = 'CH'`), and orders them otherwise, and
 * so with bytes. Of both only `=` and `IN` are asked, and not below `NOT`. Constants stand in the
 * statement as Spark's dialects write them: some databases read a backslash, a letter beyond ASCII, a
 * FLOAT or a time zone's hour as another value.
 */
private[jdbc] final class KeptFilters(
    columns: Map[String, DatabaseColumn],
    database: Database,
    dialect: JdbcDialect) {

  def apply(filter: Predicate): Boolean = keeps(filter, negated = false)

  private def keeps(filter: Predicate, negated: Boolean): Boolean = filter match {
    case and: And => keeps(and.left, negated) && keeps(and.right, negated)
    case or: Or => keeps(or.left, negated) && keeps(or.right, negated)
    case not: Not => keeps(not.child, negated = true)
    case _: AlwaysTrue | _: AlwaysFalse => true
    case one =>
      one.children.forall(isPlain) && columnsOf(one).exists(_.forall(asks(one, _, negated)))
  }

  private def isPlain(operand: Expression): Boolean = operand match {
    case _: NamedReference => true
    case literal: Literal[_] =>
      literal.value match {
        case d: Double => !d.isNaN && !d.isInfinite // written as names, which are of no column
        case text: UTF8String => text.toString.forall(c => c < 128 && c != '\\')
        case null => true
        case value => isWritten(value, literal.dataType)
      }
    case _ => false
  }

  /** Whether the dialect writes a value as a text of SQL; others it gives back as they are. */
  private def isWritten(value: Any, dataType: DataType): Boolean = dataType match {
    case DateType | TimestampNTZType | BinaryType =>
      val its = CatalystTypeConverters.convertToScala(value, dataType)
      dialect.compileValue(its).isInstanceOf[String]
    case _ => true
  }

  /** None if one is not a column of the table. */
  private def columnsOf(filter: Predicate): Option[Seq[DatabaseColumn]] = {
    val names = filter.references.map(_.fieldNames)
    Option.when(names.forall(name => name.length == 1 && columns.contains(name.head)))(
      names.toSeq.map(name => columns(name.head)))
  }

  private def asks(filter: Predicate, column: DatabaseColumn, negated: Boolean): Boolean =
    filter.name match {
      case "IS_NULL" | "IS_NOT_NULL" => isItself(column)
      case "=" | "IN" if isLoose(column) => !negated && isCompared(column)
      case "=" | "<=>" | "<>" | "<" | "<=" | ">" | ">=" | "IN" =>
        !isLoose(column) && isCompared(column)
      case _ => false
    }

  /** Whether the database may take two of its values for equal that Spark tells apart. */
  private def isLoose(column: DatabaseColumn): Boolean = column.dataType match {
    case _: StringType | BinaryType => true
    case _ => false
  }

  private def isItself(column: DatabaseColumn): Boolean =
    database.keyColumn(column, dialect).exists(_.sql == dialect.quoteIdentifier(column.name))

  /** Whether the column itself, as a filter names it, is compared as Spark compares it. */
  private def isCompared(column: DatabaseColumn): Boolean =
    !column.isPadded && !column.typeName.exists(KeptFilters.strict) && isItself(column) &&
      column.dataType != FloatType && column.dataType != TimestampType
}

private object KeptFilters {

  /** Types that refuse a text that is none of theirs. */
  private val strict = Set("uuid", "uniqueidentifier")
}
