package io.firesteel.changelog.statements

import java.util.Locale

import scala.util.Try

import org.apache.spark.internal.Logging
import org.apache.spark.sql.{DataFrame, SaveMode, SparkSession}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.firesteel.{dataFrameOf, executionOf}
import org.apache.spark.sql.streaming.OutputMode

/** Where a statement writes. */
sealed abstract class StatementTarget {

  /** What it writes to, to find two statements with one target; none if it is not known. */
  private[statements] def place(session: SparkSession): Option[String]

  /** Writes the rows of a micro-batch. */
  private[statements] def write(rows: DataFrame, batch: Micro): Unit
}

/**
 * @param query the id of the streaming query
 * @param statement the name of the statement
 * @param mode its output mode
 */
final private[statements] case class Micro(
    query: Option[String],
    statement: String,
    mode: OutputMode,
    id: Long) {
  def saveMode: SaveMode =
    if (mode == OutputMode.Complete()) SaveMode.Overwrite else SaveMode.Append
}

/** The kinds of targets. */
object StatementTarget {

  /**
   * A function of the rows and the number of a micro-batch, as `foreachBatch` takes it. The number
   * comes again if the micro-batch is repeated.
   */
  def function(write: (DataFrame, Long) => Unit): StatementTarget = new Function(write)

  /**
   * A format of Spark's batch writer. Delta Lake and Iceberg have a repeated micro-batch once, because
   * they keep the micro-batch's number in their own transactions.
   *
   * @throws IllegalArgumentException if the options of Iceberg have no `path`, the table
   */
  def format(name: String, options: Map[String, String] = Map.empty): StatementTarget = {
    // Spark finds formats by their names in upper and lower case.
    val form = name.toLowerCase(Locale.ROOT)
    require(
      form != "iceberg" || options.contains("path"),
      "The options of an Iceberg target must have its table, such as path = catalog.database.table")
    new Format(if (ofItsOwn.contains(form)) form else name, options)
  }

  private val ofItsOwn = Set("console", "delta", "iceberg")

  /** A table of the catalog, which is created if it is not there. */
  def table(name: String): StatementTarget = new Table(name)

  final private class Function(function: (DataFrame, Long) => Unit) extends StatementTarget {
    override def place(session: SparkSession): Option[String] = None
    override def write(rows: DataFrame, batch: Micro): Unit = function(rows, batch.id)
  }

  final private class Format(name: String, options: Map[String, String]) extends StatementTarget {

    /** Spark takes names of options in upper and lower case. */
    override def place(session: SparkSession): Option[String] = {
      val named = options.map { case (option, value) =>
        option.toLowerCase(Locale.ROOT) -> value.stripSuffix("/").replaceFirst("^file:/+", "/")
      }
      places.find(_.forall(named.contains)).map(_.map(named).mkString(" "))
    }

    override def write(rows: DataFrame, batch: Micro): Unit =
      if (name == "console") {
        val its = CaseInsensitiveMap(options)
        val most = its.get("numRows").fold(20)(_.toInt)
        // A length, or a boolean as Spark's console has it.
        its.get("truncate").flatMap(_.toIntOption).fold(
          rows.show(most, its.get("truncate").forall(_.toBoolean)))(length =>
          rows.show(most, length))
      } else {
        val owner = batch.query.map(query => s"$query/${batch.statement}")
        def save(marks: Map[String, String]): Unit =
          rows.write.format(name).mode(batch.saveMode).options(marks ++ options).save()
        owner match {
          // Delta skips a version of an application that it has.
          case Some(its) if name == "delta" && !options.contains("txnAppId") =>
            save(Map("txnAppId" -> its, "txnVersion" -> batch.id.toString))
          case Some(its) if name == "iceberg" =>
            val snapshots = new IcebergSnapshots(options("path"), its, batch.id)
            if (!snapshots.isWritten(rows.sparkSession)) save(snapshots.options)
          case _ => save(Map.empty)
        }
      }

    /** The options that together name what a format writes to. */
    private def places =
      Seq(Seq("url", "dbtable"), Seq("kafka.bootstrap.servers", "topic"), Seq("path"))
  }

  /** The table's name with its catalog and namespace, in which Spark takes upper and lower case. */
  private def qualified(session: SparkSession, name: String): String = {
    val parts = CatalystSqlParser.parseMultipartIdentifier(name)
    val catalog = session.catalog
    val home = Seq(catalog.currentCatalog(), catalog.currentDatabase)
    (home.dropRight(parts.size - 1) ++ parts).mkString(".").toLowerCase(Locale.ROOT)
  }

  final private class Table(name: String) extends StatementTarget {
    override def place(session: SparkSession): Option[String] = Some(qualified(session, name))
    override def write(rows: DataFrame, batch: Micro): Unit =
      rows.write.mode(batch.saveMode).saveAsTable(name)
  }

  /**
   * `INSERT INTO` or `INSERT OVERWRITE` with other rows in each micro-batch.
   *
   * @param reader the session in which the statement was written, which may have listed the table's
   *   files; micro-batches run in another
   */
  final private[statements] class Insert(
      name: String,
      statement: InsertIntoStatement,
      reader: SparkSession)
    extends StatementTarget
    with Logging {
    override def place(session: SparkSession): Option[String] = Some(qualified(session, name))
    override def write(rows: DataFrame, batch: Micro): Unit = {
      // A command runs when its plan is made.
      val _ =
        dataFrameOf(rows.sparkSession, statement.copy(query = executionOf(rows).analyzed))
      // The rows are written: that a reader lists files anew must not let them be written again.
      Try(reader.catalog.refreshTable(name)).failed.foreach { failed =>
        logWarning(s"Cannot refresh the table $name: ${failed.getMessage}")
      }
    }
  }
}
