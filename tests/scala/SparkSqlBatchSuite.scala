package io.firesteel.tests

import io.firesteel.FiresteelExtensions
import io.firesteel.core.CoreConf
import io.firesteel.testkit.{ErrorCondition, LongTest, RoomSuite, RowBag}

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.{Row, SparkSession, SparkSessionExtensions}
import org.scalatest.Assertion

/**
 * Spark's own SQL tests in batch, with firesteel on and off: the same rows, or errors of the same
 * condition. The settings let rules fire on few rows.
 */
class SparkSqlBatchSuite extends RoomSuite {
  import SparkSqlBatchSuite._

  override protected def install(extensions: SparkSessionExtensions): Unit =
    new FiresteelExtensions().apply(extensions)

  override protected def settings: Map[String, String] = Map(
    "spark.firesteel.shuffle.sampleMinSize" -> "1",
    "spark.firesteel.shuffle.adaptiveLocalAggregate.sampleMinSize" -> "1",
    "spark.firesteel.skew.sampleMinSize" -> "1",
    "spark.firesteel.skew.aggPhaseStrategy" -> "two_phase"
  )

  files.foreach(name => test(name, LongTest)(same(name)))

  private def same(name: String): Assertion = {
    val file = new SparkSqlFile(name)
    val database = new SparkSqlDatabase(spark, file)
    try {
      val session = database.newSession()
      database.createGiven(session)
      var answered = 0
      val wrong = file.statements.flatMap { text =>
        val ours = outcome(session, text, isOn = true)
        val isCompared = SparkSqlFile.isQuery(text) && varies.findFirstIn(text).isEmpty
        if (isCompared && ours.isSuccess) answered += 1
        if (isCompared) difference(ours, outcome(session, text, isOn = false)).map(_ + text)
        else None
      }
      assert(wrong.isEmpty, wrong.mkString("\n", "\n", ""))
      assert(
        answered > 0 || !file.statements.exists(SparkSqlFile.isQuery),
        "no query has an answer")
    } finally database.drop()
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
        val (own, other) = (ErrorCondition.of(a), ErrorCondition.of(b))
        Option.when(own != other)(s"${own.getOrElse(a)} for ${other.getOrElse(b)}: ")
      case (Failure(error), _) => Some(s"fails with $error: ")
      case (_, Failure(error)) => Some(s"does not fail with $error: ")
    }
}

private object SparkSqlBatchSuite {

  /** Functions whose value is another one each time. */
  private val varies =
    ("(?i)\\b(rand|randn|random|randstr|uniform|uuid|shuffle|now|current_timestamp|current_time|" +
      "localtime|monotonically_increasing_id)\\b").r

  /**
   * Left out are files about commands, plans, errors, Python and Scala functions, time zones, XML,
   * chance and keywords.
   */
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
