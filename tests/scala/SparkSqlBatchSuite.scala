package io.firesteel.tests

import io.firesteel.FiresteelExtensions
import io.firesteel.core.CoreConf
import io.firesteel.testkit.{LongTest, RoomSuite, RowBag}

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{Row, SparkSession, SparkSessionExtensions}
import org.scalatest.Assertion

/**
 * Spark's own files of SQL tests in batch, with firesteel on and off: the same rows, or errors of the
 * same condition. The settings let rules fire on few rows.
 */
class SparkSqlBatchSuite extends RoomSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit =
    new FiresteelExtensions().apply(extensions)

  override protected def settings: Map[String, String] = Map(
    "spark.firesteel.shuffle.sampleMinSize" -> "1",
    "spark.firesteel.shuffle.adaptiveLocalAggregate.sampleMinSize" -> "1",
    "spark.firesteel.skew.sampleMinSize" -> "1",
    "spark.firesteel.skew.aggPhaseStrategy" -> "two_phase"
  )

  test("a file of aggregates")(same("group-by-filter.sql"))

  SparkSqlBatchSuite.files.foreach(name => test(name, LongTest)(same(name)))

  private def same(name: String): Assertion = {
    val (session, file) = (spark.newSession(), new SparkSqlFile(name))
    val database = "batch_" + name.replaceAll("\\W", "_")
    session.sql(s"CREATE DATABASE $database")
    session.sql(s"USE $database")
    session.conf.set("spark.sql.sources.default", "parquet")
    file.settings.foreach { case (key, value) => Try(session.conf.set(key, value)) }
    SparkSqlTables.createGiven(session, file)
    val wrong = file.statements.flatMap { text =>
      if (SparkSqlFile.isQuery(text) && SparkSqlBatchSuite.varies.findFirstIn(text).isEmpty)
        difference(outcome(session, text, isOn = true), outcome(session, text, isOn = false))
          .map(_ + text)
      else {
        val _ = outcome(session, text, isOn = true)
        None
      }
    }
    session.sql("USE default")
    session.sql(s"DROP DATABASE $database CASCADE")
    assert(wrong.isEmpty, wrong.mkString("\n", "\n", ""))
  }

  private def outcome(session: SparkSession, text: String, isOn: Boolean): Try[Seq[Row]] = {
    session.conf.set(CoreConf.ENABLED.key, isOn.toString)
    Try(session.sql(text).collect().toSeq)
  }

  private def difference(ours: Try[Seq[Row]], theirs: Try[Seq[Row]]): Option[String] =
    (ours, theirs) match {
      case (Success(rows), Success(others)) =>
        val (a, b) = (RowBag.of(rows), RowBag.of(others))
        Option.when(a != b)(
          s"only ours ${RowBag.minus(a, b).take(4)}, only Spark's ${RowBag.minus(b, a).take(4)}: ")
      case (Failure(a), Failure(b)) =>
        Option.when(condition(a) != condition(b))(s"${condition(a)} for ${condition(b)}: ")
      case (Failure(error), _) => Some(s"fails with $error: ")
      case (_, Failure(error)) => Some(s"does not fail with $error: ")
    }

  private def condition(error: Throwable): String =
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null)
      .collect { case known: SparkThrowable if known.getCondition != null => known.getCondition }
      .toSeq.lastOption.getOrElse(error.getClass.getName)
}

private object SparkSqlBatchSuite {

  /** Functions whose value is another one each time. */
  private val varies =
    ("(?i)\\b(rand|randn|random|randstr|uniform|uuid|shuffle|now|current_timestamp|current_time|" +
      "localtime|monotonically_increasing_id)\\b").r

  /** All files but those about commands, plans and functions of others. */
  private val left =
    ("(udf|udaf|explain|describe|show|view-|charvarchar|change-col|transform|random|current_data|" +
      "timezone|udtf|scripting|xml|keywords).*").r

  private def files: Seq[String] = {
    val root = Path.of(getClass.getClassLoader.getResource("sql-tests/inputs").toURI)
    Files.walk(root).iterator.asScala.filter(_.toString.endsWith(".sql"))
      .map(root.relativize(_).toString)
      .filterNot(name => left.matches(name) || name.contains("negative")).toSeq.sorted
  }
}
