package io.firesteel.core.plans

import io.firesteel.core.decide.FiredOperator
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
 * What a run of a query cost, by the counts of the plan that really ran.
 *
 * @param rowsShuffled rows written by the exchanges of the plan
 * @param rowsSorted rows that went into sort operators; `None` when Spark counts them nowhere
 * @param spilledBytes what the operators spilled, by their own count (`spillSize`)
 */
final case class PlanMetrics(rowsShuffled: Long, rowsSorted: Option[Long], spilledBytes: Long)

/** A bag of rows in 24 bytes: equal bags have equal digests, others hardly ever. */
final case class AnswerDigest(rows: Long, sum: Long, secondSum: Long) {

  def +(other: AnswerDigest): AnswerDigest =
    AnswerDigest(rows + other.rows, sum + other.sum, secondSum + other.secondSum)

  override def toString: String = f"$rows%d rows $sum%016x$secondSum%016x"
}

/** One whole run of a query: what it answered and what it cost. */
final case class MeasuredRun(answer: AnswerDigest, cost: PlanMetrics) {

  /** For Python; every value is a number, a digest or null, so nothing needs quoting. */
  def json: String =
    s"""{"rows": ${answer.rows}, "digest": "$answer", "rowsShuffled": ${cost.rowsShuffled}, """ +
      s""""rowsSorted": ${cost.rowsSorted.fold("null")(_.toString)}, """ +
      s""""spilledBytes": ${cost.spilledBytes}}"""
}

object PlanMetrics extends AdaptiveSparkPlanHelper {

  private val exchanged = "shuffleRecordsWritten"

  /**
   * Runs `dataset`, which has not run before (counts would add up), reading all of its answer.
   *
   * @param columns those whose values make up the answer; all of them when empty. A query with
   *   ties under ROW_NUMBER names the columns that the ties leave unchanged.
   */
  def run(dataset: Dataset[_], columns: Seq[String]): MeasuredRun = {
    val execution = executionOf(dataset)
    val answer = digest(execution, columns)
    MeasuredRun(answer, of(execution.executedPlan))
  }

  /** Reads the counts of a plan that has run, adaptive parts and subqueries included. */
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

  /** The counts of each operator of ours in a plan that has run, by the metric's name. */
  def ofFired(plan: SparkPlan): Seq[(FiredOperator, Map[String, Long])] =
    collectWithSubqueries(plan) { case node: SparkPlan with FiredOperator =>
      node -> node.metrics.map { case (name, metric) => name -> metric.value }
    }

  /** Hashes values, not bytes: two plans may lay out the same row differently. */
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
   * Rows that `plan` handed up. Most operators count them; a few pass on what they get and count
   * nothing, and through those, and no others, the count of the operator below is taken.
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
