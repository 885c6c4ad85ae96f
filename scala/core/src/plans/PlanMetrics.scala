package io.firesteel.core.plans

import io.firesteel.core.decide.{Explain, FiredOperator}
import org.apache.spark.sql.Dataset
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, XxHash64}
import org.apache.spark.sql.execution.{InputAdapter, ProjectExec, QueryExecution, SortExec}
import org.apache.spark.sql.execution.{SparkPlan, WholeStageCodegenExec}
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, AdaptiveSparkPlanHelper}
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeLike}
import org.apache.spark.sql.execution.window.WindowExecBase
import org.apache.spark.sql.firesteel.executionOf

/**
 * The cost of a query's run, by the metrics of the plan that ran.
 *
 * @param rowsShuffled rows that the plan's exchanges wrote
 * @param rowsSorted rows that sort operators read; `None` if Spark counts them nowhere
 * @param spilledBytes bytes that the operators spilled (`spillSize`)
 */
final case class PlanMetrics(rowsShuffled: Long, rowsSorted: Option[Long], spilledBytes: Long)

/**
 * A digest of a multiset of rows in 24 bytes: equal multisets have equal digests, others hardly
 * ever.
 */
final case class AnswerDigest(rows: Long, sum: Long, secondSum: Long) {

  def +(other: AnswerDigest): AnswerDigest =
    AnswerDigest(rows + other.rows, sum + other.sum, secondSum + other.secondSum)

  override def toString: String = f"$rows%d rows $sum%016x$secondSum%016x"
}

/** One complete run of a query: its answer and its cost. */
final case class MeasuredRun(answer: AnswerDigest, cost: PlanMetrics) {

  /** For Python. Every value is a number, a digest or null, so nothing needs quoting. */
  def json: String =
    s"""{"rows": ${answer.rows}, "digest": "$answer", "rowsShuffled": ${cost.rowsShuffled}, """ +
      s""""rowsSorted": ${cost.rowsSorted.fold("null")(_.toString)}, """ +
      s""""spilledBytes": ${cost.spilledBytes}}"""
}

object PlanMetrics extends AdaptiveSparkPlanHelper {

  private val exchanged = "shuffleRecordsWritten"

  /**
   * Runs `dataset` and reads its whole answer. It must not have run before, because metrics add up.
   *
   * @param columns the columns of the answer; empty for all. A query with ties under ROW_NUMBER
   *   names the columns that do not depend on the ties.
   */
  def run(dataset: Dataset[_], columns: Seq[String]): MeasuredRun = {
    val execution = executionOf(dataset)
    val answer = digest(execution, columns)
    MeasuredRun(answer, of(execution.executedPlan))
  }

  /** Reads the metrics of a plan that has run, including adaptive parts and subqueries. */
  def of(plan: SparkPlan): PlanMetrics = {
    val nodes = collectWithSubqueries(plan) { case node => node }
    PlanMetrics(
      rowsShuffled = nodes.collect {
        case exchange: ShuffleExchangeLike => metric(exchange, exchanged).getOrElse(0L)
      }.sum,
      rowsSorted = sumIfAllKnown(nodes.collect { case sort: SortExec => rowsOutOf(sort.child) }),
      spilledBytes = nodes.flatMap(metric(_, "spillSize")).sum
    )
  }

  /** The metrics of each operator of firesteel in a plan that has run, by name; cached parts, too. */
  def ofFired(plan: SparkPlan): Seq[(FiredOperator, Map[String, Long])] =
    Explain.everyNode(plan).distinctBy(_.id).collect { case node: SparkPlan with FiredOperator =>
      node -> node.metrics.map { case (name, metric) => name -> metric.value }
    }

  /** Hashes values, not bytes: two plans may have different layouts of the same row. */
  private def digest(execution: QueryExecution, columns: Seq[String]): AnswerDigest = {
    val output = execution.analyzed.output
    val chosen = if (columns.isEmpty) output else columns.map(named(output, _))
    val none = AnswerDigest(0, 0, 0)
    execution.toRdd
      .mapPartitions { rows =>
        val hashes =
          UnsafeProjection.create(Seq(XxHash64(chosen, 42L), XxHash64(chosen, 7L)), output)
        Iterator(rows.foldLeft(none) { (sum, row) =>
          val hash = hashes(row)
          sum + AnswerDigest(1, hash.getLong(0), hash.getLong(1))
        })
      }
      .fold(none)(_ + _)
  }

  private def named(output: Seq[Attribute], column: String): Attribute =
    output.find(_.name == column).getOrElse {
      val names = output.map(_.name).mkString(", ")
      throw new IllegalArgumentException(s"no column $column in the answer; it has $names")
    }

  /**
   * The number of rows that `plan` emitted. Most operators count them. A few pass rows through and
   * count nothing; only for those the count of the operator below is used.
   */
  private def rowsOutOf(plan: SparkPlan): Option[Long] =
    metric(plan, "numOutputRows").orElse(plan match {
      case exchange: ShuffleExchangeLike => metric(exchange, exchanged)
      case stage: QueryStageExec => rowsOutOf(stage.plan)
      case reused: ReusedExchangeExec => rowsOutOf(reused.child)
      case _: ProjectExec | _: SortExec | _: WindowExecBase | _: InputAdapter |
          _: WholeStageCodegenExec | _: AQEShuffleReadExec =>
        rowsOutOf(plan.children.head)
      case _ => None
    })

  private def sumIfAllKnown(counts: Seq[Option[Long]]): Option[Long] =
    counts.foldLeft(Option(0L))((sum, count) => sum.flatMap(s => count.map(s + _)))

  private def metric(plan: SparkPlan, name: String): Option[Long] =
    plan.metrics.get(name).map(_.value)
}
