package io.firesteel.lookup.jdbc

import java.sql.SQLException
import java.util.Locale

import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types._

/**
 * In what the databases differ that matters to a lookup: how several keys are compared, how many
 * fit into a statement, and by which columns it can be asked.
 *
 * The bound for asking: a row whose column equals the key as Spark compares them must be among the
 * answers. More answers do no harm, the engine drops them. A column for which that cannot be
 * promised is no key: the engine compares it after the lookup.
 *
 * Chosen by URL, as Spark's dialects are; these are not public by type.
 */
private[jdbc] abstract class Database extends Product with Serializable {

  /** Parameters that one statement may have. */
  protected def maxParameters: Int = 32000

  /** The longest list that `IN` may have. */
  protected def maxKeysOfList: Int = Int.MaxValue

  /** Most keys of so many columns in one statement. */
  def maxKeys(columns: Int): Int = maxKeysOfList.min(maxParameters / columns)

  /** The condition for `count` keys of several columns: the database's way to compare rows. */
  def several(columns: Seq[String], count: Int): String = {
    val row = columns.map(_ => "?").mkString("(", ", ", ")")
    columns.mkString("(", ", ", ")") + " IN " + Seq.fill(count)(row).mkString("(", ", ", ")")
  }

  /** A failure that may pass although neither its class nor its state says so. */
  def isTransient(e: SQLException): Boolean = false

  /** How to ask by this column, or why the answers could lack rows. */
  final def keyColumn(column: DatabaseColumn, dialect: JdbcDialect): Either[String, KeyColumn] =
    column.changed.toLeft(()).flatMap { _ =>
      parameter(column, dialect)
        .map(new KeyColumn(quoted(column, dialect), _))
        .toRight {
          val kind = column.typeName.getOrElse(column.dataType.sql)
          s"the database does not compare $kind as Spark compares ${column.dataType.sql}"
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
      case StringType => Some(KeyParameters.string) // a collated string is equal to others
      case BinaryType => Some(KeyParameters.binary)
      case DateType => Some(KeyParameters.date)
      case TimestampType => Some(KeyParameters.timestamp)
      case TimestampNTZType => Some(KeyParameters.timestampNtz(dialect))
      case _ => None
    }

  /**
   * How to ask for padded text, which Spark has with all blanks of its type's length. Not at all where
   * the database may hold other blanks and does not compare as if there were none.
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

/** Also a database unknown here: `OR` is understood by all, but a long one is costly to parse. */
private[jdbc] case object Other extends Database {
  override def maxKeys(columns: Int): Int = if (columns == 1) maxParameters else 200
  override def several(columns: Seq[String], count: Int): String = AnyOf.several(columns, count)

  override protected def parameter(
      column: DatabaseColumn,
      dialect: JdbcDialect): Option[KeyParameter] = column.dataType match {
    case DoubleType => Some(KeyParameters.finiteDouble)
    case _ => super.parameter(column, dialect)
  }
}

/** `IN` may list 1,000 expressions (ORA-01795). */
private[jdbc] case object Oracle extends Database {
  override protected def maxKeysOfList: Int = 1000
}

private[jdbc] object AnyOf {

  /** `(a = ? AND b = ?) OR ...`, for databases without row values. */
  def several(columns: Seq[String], count: Int): String = {
    val one = columns.map(c => s"$c = ?").mkString("(", " AND ", ")")
    Seq.fill(count)(one).mkString(" OR ")
  }
}
