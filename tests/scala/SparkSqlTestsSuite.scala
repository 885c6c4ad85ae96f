package io.firesteel.tests

import io.firesteel.FiresteelExtensions
import io.firesteel.changelog.{ChangelogStream, ChangelogSuite, ConsumedTable}
import io.firesteel.testkit.{ErrorCondition, Interpreted, LongTest}

import java.nio.file.{Files, Path}

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Try

import org.apache.spark.sql.{DataFrame, SparkSessionExtensions}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.Assertion

/**
 * Spark's own SQL tests with every table a stream: after each micro-batch the changelog is the
 * answer of the batch query over the rows so far.
 *
 * The files are those of `tests/spark-sql-tests.txt`. It also has the statements that are refused,
 * which must fail, and those that have several answers.
 */
class SparkSqlTestsSuite extends ChangelogSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit =
    new FiresteelExtensions().apply(extensions)

  override protected def settings: Map[String, String] = super.settings ++
    Interpreted.settings.map { case (key, value) => key -> value.toString } ++
    Map(SQLConf.SHUFFLE_PARTITIONS.key -> "1", SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> "false")

  SparkSqlTestsSuite.listed.foreach { case (name, left) =>
    test(s"$name: rows that come", LongTest)(follows(name, left, changing = false))
    test(s"$name: rows that come and go", LongTest)(follows(name, left, changing = true))
  }

  private def follows(name: String, left: Map[Int, String], changing: Boolean): Assertion = {
    val file = new SparkSqlFile(name)
    val tables = new SparkSqlTables(spark, file)
    var followed = 0
    val wrong = mutable.ArrayBuffer.empty[String]
    try file.statements.zipWithIndex.foreach {
        case (text, _) if !SparkSqlFile.isQuery(text) => tables.define(text)
        case (text, number) if runsInBatch(tables, text) =>
          (left.get(number), outcome(tables, text, changing)) match {
            // What may not be retracted may be added.
            case (Some("refused"), Some(None)) if changing => wrong += s"$number runs now: $text"
            case (None, Some(Some(why))) => wrong += s"$number: $why\n$text"
            case (None, Some(None)) => followed += 1
            case _ => ()
          }
        case _ => ()
      }
    finally tables.drop()
    assert(wrong.isEmpty, wrong.mkString("\n", "\n", ""))
    assert(followed > 0, "no statement was a stream")
  }

  private def runsInBatch(tables: SparkSqlTables, text: String): Boolean = {
    tables.reset()
    Try(tables.batch.sql(text).collect()).isSuccess
  }

  /** Whether the stream follows the batch query, or why not; none if it is no stream. */
  private def outcome(
      tables: SparkSqlTables,
      text: String,
      changing: Boolean): Option[Option[String]] = {
    val steps = tables.feeding(changing)
    val isStream = Try(tables.streams.sql(text)).map(_.isStreaming).getOrElse(true)
    Option.when(isStream) {
      Try(follow(tables, text, steps)).fold(
        error => Some(s"${ErrorCondition.of(error).getOrElse(error)} ${error.getMessage}"),
        identity)
    }
  }

  private def follow(
      tables: SparkSqlTables,
      text: String,
      steps: Seq[() => Unit]): Option[String] = {
    val table = new ConsumedTable
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
  }

  /** Over fewer rows the batch query may end in an error: then there is no answer. */
  private def different(
      tables: SparkSqlTables,
      text: String,
      table: ConsumedTable): Option[String] =
    Try(tables.batch.sql(text).collect().toSeq).toOption.map(ChangelogStream.bag)
      .filter(_ != table.rows).map { wanted =>
        s"only the changelog's ${(table.rows.toSet -- wanted.toSet).take(4)}, " +
          s"only the batch's ${(wanted.toSet -- table.rows.toSet).take(4)}"
      }
}

private object SparkSqlTestsSuite {

  /**
   * The files, and of each the numbers of statements that are left out, with the kind of reason.
   */
  def listed: Seq[(String, Map[Int, String])] = {
    val lines = Files.readAllLines(Path.of("tests/spark-sql-tests.txt"))
      .asScala.toSeq.filterNot(line => line.startsWith("#") || line.isBlank)
    lines.filterNot(_.startsWith(" ")).map { file =>
      val below = lines.drop(lines.indexOf(file) + 1).takeWhile(_.startsWith(" "))
      file -> below.map(_.trim.split(" ")).map(words => words(0).toInt -> words(1)).toMap
    }
  }
}
