package io.firesteel.lookup.jdbc

import java.sql.SQLException
import java.util.Locale

import scala.annotation.unused

import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types._

/**
 * Differences between databases that matter to a lookup: how to compare several keys, how many fit
 * into a statement, and by which columns to ask.
 *
 * Requirement for asking: the answers include every row whose column equals the key as Spark
 * compares them. More rows do no harm, because the join drops them. A column without this guarantee
 * is no key; the join compares it after the lookup.
 *
 * Chosen by URL, as Spark's dialects are; the types of these dialects are not public.
 */
private[jdbc] abstract class Database extends Product with Serializable {

  /** Most parameters of one statement. */
  protected def maxParameters: Int = 32000

  /** Most values of an `IN` list. */
  protected def maxKeysOfList: Int = Int.MaxValue

  /** Most keys with this number of columns in one statement. */
  def maxKeys(columns: Int): Int = maxKeysOfList.min(maxParameters / columns)

  /** The condition for `count` keys of several columns, in the database's syntax. */
  def several(columns: Seq[String], count: Int): String = {
    val row = columns.map(_ => "?").mkString("(", ", ", ")")
    columns.mkString("(", ", ", ")") + " IN " + Seq.fill(count)(row).mkString("(", ", ", ")")
  }

  /** Whether a failure may pass although neither its class nor its SQL state shows it. */
  def isTransient(e: SQLException): Boolean = false

  /** How a statement reads a column, given its quoted name. */
  def read(@unused column: DatabaseColumn, quoted: String): String = quoted

  /** Whether it compares this column of another type as the text that Spark reads. */
  def comparesAsText(column: DatabaseColumn): Boolean = false

  /** Whether it refuses `=` for values of a type of this name, such as those of large objects. */
  protected def refusesEqual(typeName: String): Boolean = false

  /** Whether it takes both for names of one column, if they are quoted. */
  def isSameName(one: String, other: String): Boolean = one == other

  /** How to ask by this column, or the reason why answers could lack rows. */
  final def keyColumn(column: DatabaseColumn, dialect: JdbcDialect): Either[String, KeyColumn] =
    changed(column).toLeft(()).flatMap { _ =>
      parameter(column, dialect)
        .map(new KeyColumn(quoted(column, dialect), _))
        .toRight {
          val kind = column.typeName.getOrElse(column.dataType.sql)
          s"the database does not compare $kind as Spark compares ${column.dataType.sql}"
        }
    }

  private def changed(column: DatabaseColumn): Option[String] = column.changed.orElse {
    if (column.typeName.exists(refusesEqual)) Some("the database does not compare large objects")
    else Option.when(column.isReadAsText && !comparesAsText(column)) {
      s"Spark reads it as text, and the database compares it as ${column.typeName.mkString}"
    }
  }

  protected def quoted(column: DatabaseColumn, dialect: JdbcDialect): String =
    dialect.quoteIdentifier(column.name)

  protected def parameter(column: DatabaseColumn, dialect: JdbcDialect): Option[KeyParameter] =
    column.dataType match {
      case BooleanType => Some(KeyParameters.boolean)
      case ByteType => Some(KeyParameters.byte)
      case ShortType => Some(KeyParameters.short)
      case IntegerType => Some(KeyParameters.int)
      case LongType => Some(KeyParameters.long)
      case FloatType => Some(KeyParameters.float)
      case DoubleType => Some(KeyParameters.double)
      case decimal: DecimalType => Some(KeyParameters.decimal(decimal.precision, decimal.scale))
      case StringType if column.isPadded => padded
      case StringType => Some(KeyParameters.string) // a text with a collation equals others
      case BinaryType => Some(KeyParameters.binary)
      case DateType => Some(KeyParameters.date)
      case TimestampType => Some(KeyParameters.timestamp)
      case TimestampNTZType => Some(KeyParameters.timestampNtz(dialect))
      case _ => None
    }

  /**
   * How to ask for padded text, which Spark reads with all blanks of its type's length. None if the
   * database may store other blanks and counts them in comparisons.
   */
  protected def padded: Option[KeyParameter] = None
}

private[jdbc] object Database {

  def of(url: String): Database = url.toLowerCase(Locale.ROOT).split(":").drop(1).headOption match {
    case Some("postgresql") => PostgreSql
    case Some("mysql" | "mariadb") => MySql
    case Some("h2") => H2
    case Some("sqlite") => Sqlite
    case Some("oracle") => Oracle
    case Some("sqlserver") => SqlServer
    case _ => Other
  }
}

private[jdbc] case object H2 extends Database {
  override protected def padded: Option[KeyParameter] = Some(KeyParameters.string)
}

/** A database unknown here: all of them understand `OR`, but a long one is expensive to parse. */
private[jdbc] case object Other extends Database {
  override def maxKeys(columns: Int): Int =
    if (columns == 1) maxParameters else math.min(200, maxParameters / columns)
  override def several(columns: Seq[String], count: Int): String = AnyOf.several(columns, count)

  override protected def refusesEqual(typeName: String): Boolean =
    Seq("clob", "blob", "long varchar", "xml").exists(typeName.contains)

  override protected def parameter(
      column: DatabaseColumn,
      dialect: JdbcDialect): Option[KeyParameter] = column.dataType match {
    case DoubleType => Some(KeyParameters.finiteDouble)
    case FloatType => Some(KeyParameters.finiteFloat)
    case _ => super.parameter(column, dialect)
  }
}

/** `IN` may list 1,000 expressions (ORA-01795). */
private[jdbc] case object Oracle extends Database {
  override protected def maxKeysOfList: Int = 1000

  override protected def refusesEqual(typeName: String): Boolean =
    Seq("clob", "blob", "bfile", "long", "xml", "json").exists(typeName.contains)
}

private[jdbc] object AnyOf {

  /** `(a = ? AND b = ?) OR ...`, for databases without row values. */
  def several(columns: Seq[String], count: Int): String = {
    val one = columns.map(c => s"$c = ?").mkString("(", " AND ", ")")
    Seq.fill(count)(one).mkString(" OR ")
  }
}
