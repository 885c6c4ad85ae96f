package io.firesteel.testkit

import io.firesteel.core.CoreConf
import io.firesteel.core.decide.Explain
import java.nio.file.Files

import org.apache.spark.sql.{DataFrame, Row, SparkSession, SparkSessionExtensions}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.executionOf
import org.scalatest.{Assertion, BeforeAndAfterAll}

import scala.util.Try

/**
 * A session with the rules of one room, and the checks that its tests use.
 *
 * Each suite has its own session, from before its first test until after its last.
 */
abstract class RoomSuite extends TimedSuite with BeforeAndAfterAll {

  /** Installs the room under test, and nothing else. */
  protected def install(extensions: SparkSessionExtensions): Unit

  /** Settings of the session, added to those of the kit. */
  protected def settings: Map[String, String] = Map.empty

  /** Tables of this suite only: another run on the machine may use the same names. */
  private lazy val warehouse = Files.createTempDirectory("firesteel-warehouse")

  protected lazy val spark: SparkSession = {
    val builder = SparkSession
      .builder()
      .master("local[2]")
      .appName(suiteName)
      .config("spark.ui.enabled", "false")
      .config("spark.sql.shuffle.partitions", "3")
      .config("spark.sql.warehouse.dir", warehouse.toString)
      .config("spark.unsafe.exceptionOnMemoryLeak", "true")
      // The default is 100 classes; then most tests compile the same code again.
      .config("spark.sql.codegen.cache.maxEntries", "4000")
    val _ = BesideComet.install(builder, install)
    settings.foreach { case (key, value) => builder.config(key, value) }
    val session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session
  }

  override protected def afterAll(): Unit =
    try spark.stop()
    finally super.afterAll()

  /** Runs `body` under settings, and restores them afterwards. */
  protected def withConf[T](pairs: (String, Any)*)(body: => T): T = WithConf(spark, pairs)(body)

  /** Settings with which Spark compiles nothing. */
  protected val interpreted: Seq[(String, Any)] = Interpreted.settings

  /** Stock Spark: all of firesteel is off. */
  protected def stock[T](body: => T): T =
    withConf(BesideComet.off :+ (CoreConf.ENABLED.key -> false): _*)(body)

  /** Spark's own answer, interpreted: see [[Interpreted]]. */
  protected def sparks[T](answer: => T): T = stock(Interpreted(spark)(answer))

  /** The physical plan as it was last run, adaptive parts included, once `collect` has run. */
  protected def executed(data: DataFrame): SparkPlan = executionOf(data).executedPlan

  protected def explain(sql: String): Explain = Explain.of(executed(spark.sql(sql)))

  /** The rules that fire in a query. */
  protected def fired(sql: String): Seq[String] = explain(sql).fired.map(_.rule)

  /** The reason codes of a query. */
  protected def declines(sql: String): Set[String] = explain(sql).declined.map(_.why.code).toSet

  /** Runs the query with firesteel on and off, and compares the rows as bags. */
  protected def assertSameAnswer(sql: String): Assertion = {
    val theirs = sparks(rowsOf(sql))
    val ours = Try(rowsOf(sql))
    val expected = RowBag.of(theirs)
    if (!ours.toOption.map(RowBag.of).contains(expected) && isCometsFault(sql, expected)) succeed
    else assertSameRows(ours.get, theirs, sql)
  }

  /** The rows of a query, and beside Comet those of the queries above it. */
  protected def rowsOf(sql: String): Seq[Row] =
    BesideComet.above(spark, sql).flatMap(spark.sql(_).collect())

  /** Whether Comet alone has another answer than stock Spark, or fails: then both may, too. */
  protected def isCometsFault(sql: String, sparks: Map[String, Int]): Boolean =
    BesideComet.isOn && {
      val alone = withConf(CoreConf.ENABLED.key -> false)(Try(RowBag.of(rowsOf(sql))))
      val isFault = !alone.toOption.contains(sparks)
      if (isFault) alert(s"Comet alone: $sql")
      isFault
    }

  protected def assertSameRows(ours: Seq[Row], theirs: Seq[Row], about: => String): Assertion = {
    val (left, right) = (RowBag.of(ours), RowBag.of(theirs))
    if (left == right) succeed
    else {
      fail(
        s"""different answers: $about
           |only ours:    ${RowBag.minus(left, right).take(10).mkString("; ")}
           |only Spark's: ${RowBag.minus(right, left).take(10).mkString("; ")}""".stripMargin)
    }
  }

  /** Runs the query with firesteel on and off: the same rows, or errors of the same condition. */
  protected def assertSameOutcome(sql: String): Assertion = {
    val (ours, theirs) = (outcome(sql), sparks(outcome(sql)))
    (ours, theirs) match {
      case (Right(rows), Right(others)) => assertSameRows(rows, others, sql)
      case _ => assert(ours == theirs, sql)
    }
  }

  private def outcome(sql: String): Either[String, Seq[Row]] =
    try Right(spark.sql(sql).collect().toSeq)
    catch {
      case error: Exception => Left(ErrorCondition.of(error).getOrElse(throw error))
    }

  /** If a plan has an operator of the room's kind, the query must fire or have a reason. */
  protected def assertDecided(sql: String, operator: String): Assertion = {
    val explained = explain(sql)
    val decided = explained.fired.nonEmpty || explained.declined.nonEmpty
    assert(decided || !explained.plan.contains(operator), s"no decision about: $sql")
  }
}
