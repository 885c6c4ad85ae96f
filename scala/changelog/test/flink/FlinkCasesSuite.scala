package io.firesteel.changelog.flink

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite, RandomChangelogs, RandomQueries}
import io.firesteel.testkit.{Interpreted, LongTest}
import java.util.concurrent.Executors

import scala.concurrent.{Await, ExecutionContext, Future}
import scala.concurrent.duration.Duration
import scala.util.Try

import org.apache.spark.sql.{AnalysisException, Row}
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.Assertion

/**
 * A case for each test of the classes of Flink's planner that run unbounded queries, of our own
 * words and values. They are in `test-resources/flink`, a file for each class of Flink. A case with
 * the mark `later` must fail, so that the mark is removed when it runs.
 */
class FlinkCasesSuite extends ChangelogSuite {

  override protected def settings: Map[String, String] = super.settings ++
    Interpreted.settings.map { case (key, value) => key -> value.toString } ++
    Map(SQLConf.SHUFFLE_PARTITIONS.key -> "1", SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> "false")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    FlinkFunctions.register(spark)
  }

  private val classes = Seq(
    "JoinITCase",
    "SemiAntiJoinStreamITCase",
    "SetOperatorsITCase",
    "RankITCase",
    "AggregateITCase",
    "LimitITCase",
    "SortLimitITCase",
    "SortITCase",
    "DeduplicateITCase",
    "UnnestITCase",
    "CorrelateITCase",
    "OverAggregateITCase",
    "NonTimeOverAggregateITCase",
    "CalcITCase",
    "SplitAggregateITCase",
    "PruneAggregateCallITCase",
    "AggregateRemoveITCase",
    "ChangelogSourceITCase",
    "ValuesITCase",
    "MultiJoinITCase",
    "DeltaJoinITCase",
    "CascadedDeltaJoinITCase",
    "JoinReorderITCase",
    "NestedOuterJoinChangelogStressITCase",
    "OuterJoinUpsertInputITCase",
    "Limit0RemoveITCase",
    "LimitableSourceITCase",
    "FilterableSourceITCase",
    "PartitionableSourceITCase",
    "TableSourceITCase",
    "TimestampITCase",
    "ScanReuseITCase",
    "StreamApproxCountDistinctITCase",
    "VariantScalaITCase",
    "CseITCase",
    "TableSinkITCase"
  )

  classes.foreach { name =>
    test(name)(inTurn(FlinkCase.of(name))(c => followed(c, c.input)))
    test(s"$name, without row_kind()") {
      inTurn(FlinkCase.of(name).filter(its => its.input.isEmpty && its.later.isEmpty))(plain)
    }
    test(s"$name, over rows that go", LongTest) {
      val cases = FlinkCase.of(name).filterNot(_.queries.exists(varies.findFirstIn(_).nonEmpty))
      inTurn(cases)(followed(_, "retractions"))
    }
  }

  /** In append mode a result that only grows is the batch query's; any other is refused. */
  private def plain(flinks: FlinkCase): Option[String] = {
    val different = flinks.queries.flatMap { query =>
      val fed = stream(RandomQueries.schema, query)
      try {
        fed.startAs("append", query, hasKinds = false)
        FlinkRows.rows.foreach(fed.feed)
        val (has, wanted) =
          (ChangelogStream.bag(fed.emitted.toSeq), ChangelogStream.bag(fed.answer()))
        Option.when(has != wanted)(s"has $has, not $wanted")
      } catch {
        case refused: AnalysisException
            if refused.getCondition == "FIRESTEEL_CHANGELOG_NOT_INSERT_ONLY" => None
        case failed: Exception => Some(failed.toString.take(500))
      } finally fed.stop()
    }
    different.headOption.map(its => s"${flinks.name}: $its")
  }

  /** The current time and random values cannot be retracted, and are refused. */
  private lazy val varies = "current_|rand|uuid".r

  private def followed(flinks: FlinkCase, input: String): Option[String] = {
    val outcome = Try(flinks.queries.foreach(query => run(query, input)))
    (flinks.later, outcome.failed.toOption) match {
      case (Some(_), None) => Some(s"${flinks.name} runs now: remove its mark")
      case (None, Some(error)) => Some(s"${flinks.name}: $error")
      case _ => None
    }
  }

  private def run(query: String, input: String): Assertion = input match {
    case "retractions" => follows(query, FlinkRows.changes, RandomChangelogs.full)
    case "keys" => follows(query, FlinkRows.changes, RandomChangelogs.upserts)
    case "upserts" =>
      assert(assertUpserts(RandomQueries.schema, query, FlinkRows.rows), "it has no upsert key")
    case "" => assertFollows(RandomQueries.schema, query, FlinkRows.rows)
  }

  private def follows(
      query: String,
      batches: Seq[Seq[Row]],
      source: ChangelogStream.Source): Assertion =
    assertFollows(RandomChangelogs.schema, query, batches, source = source)

  /** Two at a time: a micro-batch of few rows leaves processors idle. */
  private def inTurn(cases: Seq[FlinkCase])(body: FlinkCase => Option[String]): Assertion = {
    val threads = Executors.newFixedThreadPool(2)
    implicit val two: ExecutionContext = ExecutionContext.fromExecutorService(threads)
    try {
      val failed = Await.result(Future.traverse(cases)(c => Future(body(c))), Duration.Inf).flatten
      assert(failed.isEmpty, failed.mkString("\n", "\n", ""))
    } finally threads.shutdown()
  }
}
