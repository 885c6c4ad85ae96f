package io.firesteel.lookup.jdbc

import java.sql.SQLException

import scala.util.Using

import org.apache.spark.sql.firesteel.JdbcInternals
import org.apache.spark.sql.jdbc.{JdbcDialect, JdbcDialects}
import org.apache.spark.sql.types.StructType

/** The columns of the table in the database, read over a connection of its own. */
private[jdbc] object DatabaseSchema {

  /** The schema as Spark's JDBC source reads it; on the driver. */
  def of(settings: JdbcSettings): StructType = {
    val database = Database.of(settings.options.url)
    Retry(settings.maxRetries, database, () => true) {
      JdbcInternals.schemaOf(RedactingConnectionProvider.optionsOf(settings))
    } { (failure, attempts) =>
      JdbcErrors.ofFailure(settings, query(settings), failure, attempts)
    }
  }

  /**
   * A column that the database lacks, and those that it has. This is the likely reason why it
   * refuses a statement, because a schema may have been given by hand.
   */
  def missing(settings: JdbcSettings, wanted: Seq[String]): Option[(String, Seq[String])] =
    Using(new Connections(settings).open()) { connection =>
      Using.resource(connection.prepareStatement(query(settings))) { statement =>
        // The table may be locked.
        statement.setQueryTimeout(Some(settings.options.queryTimeout).filter(_ > 0).getOrElse(10))
        val found = statement.executeQuery().getMetaData
        (1 to found.getColumnCount).map(found.getColumnLabel)
      }
    }.fold(
      {
        case _: SQLException => None // the table is wrong, as the database's own error says
        case other => throw other
      },
      actual => {
        val database = Database.of(settings.options.url)
        wanted.find(name => !actual.exists(database.isSameName(name, _))).map(_ -> actual)
      }
    )

  private def query(settings: JdbcSettings): String = {
    val dialect: JdbcDialect = JdbcDialects.get(settings.options.url)
    dialect.getSchemaQuery(settings.options.tableOrQuery)
  }
}
