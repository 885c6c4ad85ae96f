package io.firesteel.tests

import io.firesteel.FiresteelExtensions
import io.firesteel.changelog.{ChangelogSuite, ConsumedTable}
import io.firesteel.testkit.{Interpreted, LongTest}

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{DataFrame, SparkSessionExtensions}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.Assertion

/**
 * Spark's own files of SQL tests, with every table a stream: after each micro-batch the changelog is the
 * answer of the batch query over the rows so far, or the query is in `tests/spark-sql-tests.txt` with the
 * reason why it is refused, or has more than one answer.
 */
class SparkSqlTestsSuite extends ChangelogSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit =
    new FiresteelExtensions().apply(extensions)

  override protected def settings: Map[String, String] = super.settings ++
    Interpreted.settings.map { case (key, value) => key -> value.toString } ++
    Map(SQLConf.SHUFFLE_PARTITIONS.key -> "1", SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> "false")

  private val listed: Seq[(String, Map[Int, String])] = SparkSqlTestsSuite.listed

  test("a file of subqueries") {
    follows("subquery/exists-subquery/exists-aggregate.sql", changing = false)
  }

  listed.foreach { case (name, _) =>
    test(s"$name: rows that come", LongTest)(follows(name, changing = false))
    test(s"$name: rows that come and go", LongTest)(follows(name, changing = true))
  }

  private def follows(name: String, changing: Boolean): Assertion = {
    val file = new SparkSqlFile(name)
    val tables = new SparkSqlTables(spark, file)
    val known = listed.toMap.getOrElse(name, Map.empty)
    try {
      val wrong = file.statements.zipWithIndex.flatMap {
        case (text, _) if !SparkSqlFile.isQuery(text) =>
          tables.define(text)
          None
        case (text, number) if known.contains(number) || !runsInBatch(tables, text) => None
        case (text, number) =>
          problem(tables, text, changing).map(why => s"$number: $why\n$text")
      }
      assert(wrong.isEmpty, wrong.mkString("\n", "\n", ""))
    } finally tables.drop()
  }

  private def runsInBatch(tables: SparkSqlTables, text: String): Boolean = {
    tables.reset()
    Try(tables.batch.sql(text).collect()).isSuccess
  }

  /** Why the stream does not follow the batch query; none if it does, or is no stream. */
  private def problem(tables: SparkSqlTables, text: String, changing: Boolean): Option[String] = {
    val steps = tables.feeding(changing)
    val isStream = Try(tables.streams.sql(text)).map(_.isStreaming).getOrElse(true)
    Option.when(isStream)(text).flatMap { _ =>
      val table = new ConsumedTable
      Try {
        val query = tables.streams.sql(s"SELECT *, row_kind() AS op FROM (\n$text\n)").writeStream
          .outputMode("append")
          .option("checkpointLocation", Files.createTempDirectory("firesteel-sql-tests").toString)
          .foreachBatch((batch: DataFrame, _: Long) => batch.collect().foreach(table.consume))
          .start()
        try steps.zipWithIndex.flatMap { case (step, number) =>
            step()
            query.processAllAvailable()
            table.wrong.orElse(different(tables, text, table)).map(d => s"micro-batch $number: $d")
          }.headOption
        finally query.stop()
      }.fold(error => Some(reason(error)), identity)
    }
  }

  /** Over fewer rows the batch query may end in an error: then there is no answer. */
  private def different(
      tables: SparkSqlTables,
      text: String,
      table: ConsumedTable): Option[String] =
    Try(tables.batch.sql(text).collect().toSeq).toOption.map(SparkSqlTables.bag)
      .filter(_ != table.rows).map { wanted =>
        s"only the changelog's ${(table.rows.toSet -- wanted.toSet).take(4)}, " +
          s"only the batch's ${(wanted.toSet -- table.rows.toSet).take(4)}"
      }

  private def reason(error: Throwable): String = {
    val causes = Iterator.iterate(error)(_.getCause).takeWhile(_ != null).toSeq
    causes.collect {
      case known: SparkThrowable if known.getCondition != null => known.getCondition
    }
      .lastOption.getOrElse(causes.last.toString) + " " + causes.last.getMessage
  }
}

private object SparkSqlTestsSuite {

  /** `tests/spark-sql-tests.txt`: files, and below each the numbers of statements that are left out. */
  def listed: Seq[(String, Map[Int, String])] = {
    val lines = Files.readAllLines(Path.of("tests/spark-sql-tests.txt"))
      .asScala.toSeq.filterNot(line => line.startsWith("#") || line.isBlank)
    val files = lines.filterNot(_.startsWith(" "))
    files.map { file =>
      val below = lines.drop(lines.indexOf(file) + 1).takeWhile(_.startsWith(" "))
      file -> below.map(_.trim.split(" ", 2)).map(part => part(0).toInt -> part(1)).toMap
    }
  }
}
