package io.firesteel.tests

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.{Encoders, Row, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.View
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.types.{StringType, StructType}

/**
 * The tables of one of Spark's files of SQL tests, in a session for batch and in one for streams.
 * There a table is a stream of its rows. Views over them and functions are defined in both.
 */
final private class SparkSqlTables(spark: SparkSession, file: SparkSqlFile) {
  import SparkSqlTables._

  private val database = new SparkSqlDatabase(spark, file)
  val batch: SparkSession = database.newSession()
  val streams: SparkSession = database.newSession()
  private val tables = mutable.LinkedHashMap.empty[String, Table]

  database.createGiven(batch).foreach(keep)
  reset()

  def drop(): Unit = database.drop()

  private def keep(name: String): Unit = {
    val data = batch.table(name)
    tables(name) =
      Table(data.collect().toSeq, StructType(data.schema.map(_.copy(nullable = true))))
  }

  /** Runs a statement that is no query. */
  def define(text: String): Unit = {
    // Tables of the catalog lie under the views of their rows.
    tables.keys.filter(name => batch.catalog.tableExists(s"${database.name}.$name"))
      .foreach(batch.catalog.dropTempView)
    val _ = Try(batch.sql(text).collect())
    text match {
      case TemporaryView(name) if isOfValues(name) => val _ = Try(keep(name.toLowerCase))
      case _ =>
        if (!text.matches(ofCatalog)) { val _ = Try(streams.sql(text).collect()) }
        (names("TABLES", "tableName") -- names("VIEWS", "viewName"))
          .foreach(name => Try(keep(name.toLowerCase)))
    }
    if (text.matches("(?is)drop\\s+(view|table).*"))
      tables.keys.toSeq.filter(name => Try(batch.table(name)).isFailure).foreach { name =>
        tables.remove(name)
        streams.catalog.dropTempView(name)
      }
    reset()
  }

  /** What the database has, apart from temporary views. */
  private def names(kind: String, column: String): Set[String] =
    batch.sql(s"SHOW $kind IN ${database.name}").where("NOT isTemporary").collect()
      .map(_.getAs[String](column)).toSet

  private def isOfValues(view: String): Boolean =
    Try(executionOf(batch.table(view)).analyzed).toOption
      .exists(_.collect { case inner: View => inner }.size <= 1)

  /** Both sessions have the tables with all of their rows. */
  def reset(): Unit = tables.foreach { case (name, table) =>
    Seq(batch, streams).foreach(show(_, name, table, table.rows))
  }

  private def show(session: SparkSession, name: String, table: Table, rows: Seq[Row]): Unit =
    session.createDataFrame(rows.asJava, table.schema).createOrReplaceTempView(name)

  /**
   * Makes each table a stream. Each call of the result feeds a micro-batch, and gives the batch
   * session what the tables have by then.
   *
   * @param changing whether rows go and come again
   */
  def feeding(changing: Boolean): Seq[() => Unit] = {
    val inputs = tables.toSeq.flatMap { case (name, table) =>
      val schema = if (changing) table.schema.add("row_op", StringType) else table.schema
      // Values of some types have no encoder: these tables stay tables.
      Try(memoryStream[Row](streams)(Encoders.row(schema))).toOption.map { input =>
        val log = if (changing) s"${name}_log" else name
        input.toDF().createOrReplaceTempView(log)
        if (changing)
          streams.sql(
            s"CREATE OR REPLACE TEMP VIEW $name AS SELECT * FROM from_changelog(TABLE($log), 'row_op')")
        (name, table, input)
      }
    }
    (if (changing) changes else halves).map { step => () =>
      inputs.foreach { case (name, table, input) =>
        val (fed, present) = step(table.rows)
        input.addData(fed)
        show(batch, name, table, present)
      }
    }
  }
}

private object SparkSqlTables {

  final private case class Table(rows: Seq[Row], schema: StructType)

  /** The rows that come in a micro-batch, and those that the table then has. */
  private type Step = Seq[Row] => (Seq[Row], Seq[Row])

  private val halves: Seq[Step] = Seq(
    rows => { val half = rows.take((rows.size + 1) / 2); (half, half) },
    rows => (rows.drop((rows.size + 1) / 2), rows))

  private val changes: Seq[Step] = {
    def third(rows: Seq[Row]) = {
      val (gone, stay) = rows.zipWithIndex.partition(_._2 % 3 == 0)
      (gone.map(_._1), stay.map(_._1))
    }
    def as(op: String)(rows: Seq[Row]) = rows.map(row => Row.fromSeq(row.toSeq :+ op))
    Seq(
      rows => (as("+I")(rows), rows),
      rows => (as("-D")(third(rows)._1), third(rows)._2),
      rows => {
        val (gone, stay) = third(rows)
        (as("+I")(gone) ++ as("-D")(stay.take(1)), gone ++ stay.drop(1))
      }
    )
  }

  private val TemporaryView =
    "(?is)create\\s+(?:or\\s+replace\\s+)?temp(?:orary)?\\s+view\\s+`?(\\w+)`?.*".r

  /** Statements about tables of the catalog, which both sessions have. */
  private val ofCatalog =
    "(?is)(create\\s+(or\\s+replace\\s+)?table|insert|alter\\s+table|drop\\s+table|truncate|analyze|cache).*"
}
