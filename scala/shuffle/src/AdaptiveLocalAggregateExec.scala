package io.firesteel.shuffle

import io.firesteel.core.decide.FiredOperator
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.execution.{CollapseCodegenStages, LeafExecNode, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.active

/**
 * A partial aggregate that leaves aggregating to the final one as long as hardly two rows of a task
 * have the same keys: each row is handed on as a group of its own. From where that pays no more, a task
 * aggregates what it has left.
 *
 * Flink's counterpart (`table.exec.local-hash-agg.adaptive.enabled`) begins with aggregating. This one is
 * planned only where a sample has few equal keys.
 *
 * Memory: some thousand hashes of keys; after the change that of Spark's own aggregate.
 *
 * @param original the aggregate for which it stands
 * @param merging aggregates groups of one row, above [[HandedOverExec]]
 * @param keys the first columns of `child`, whose rows are groups of one row
 * @param evidence what let it be planned, for the author of the query
 */
final private[shuffle] case class AdaptiveLocalAggregateExec(
    original: SparkPlan,
    merging: SparkPlan,
    keys: Seq[Attribute],
    limits: LocalAggregateLimits,
    evidence: Map[String, String],
    child: SparkPlan)
  extends UnaryExecNode
  with FiredOperator {

  override def nodeName: String = "AdaptiveLocalAggregate"
  override def simpleString(maxFields: Int): String = s"$nodeName ${keys.mkString("[", ", ", "]")}"

  override def firedRule: String = AdaptLocalAggregates.name
  override def firedMessage: String =
    "rows go to the final aggregate one by one, as long as few of a task have equal keys"
  override def firedValues: Map[String, String] =
    Map("keys" -> keys.map(_.sql).mkString(", ")) ++ evidence

  /** The state of one row may never be null where that of many may: a sum that overflows. */
  override def output: Seq[Attribute] = child.output.zip(original.output).map {
    case (one, many) => one.withNullability(one.nullable || many.nullable)
  }
  override def outputPartitioning: Partitioning =
    UnknownPartitioning(child.outputPartitioning.numPartitions)

  /** To Spark's reuse of shuffles it is the aggregate for which it stands. */
  override protected def doCanonicalize(): SparkPlan = original.canonicalized

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "numRowsAlone" -> SQLMetrics.createMetric(sparkContext, "rows handed on one by one"),
    "numRowsAggregated" -> SQLMetrics.createMetric(sparkContext, "rows aggregated")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = child.execute()
    val handed = new HandedOverRDD(sparkContext, rows.getNumPartitions)
    // `DataFrame.rdd` runs plans in whatever thread asks.
    val rest = active(session) {
      CollapseCodegenStages().apply(merging.transformUp { case leaf: HandedOverExec =>
        leaf.copy(handed = Some(handed))
      }).execute()
    }
    val (keys, input, limits) = (this.keys, child.output, this.limits)
    val (out, alone, aggregated) =
      (longMetric("numOutputRows"), longMetric("numRowsAlone"), longMetric("numRowsAggregated"))
    new SwitchedRDD(
      rows,
      handed,
      rest,
      () => new RowsAlone(KeyHash.of(keys, input), limits, out, alone, aggregated))
  }

  override protected def withNewChildInternal(newChild: SparkPlan): AdaptiveLocalAggregateExec =
    copy(child = newChild)
}

/** The rows of a task that are left to be aggregated. */
final private[shuffle] case class HandedOverExec(
    output: Seq[Attribute],
    handed: Option[HandedOverRDD] = None)
  extends LeafExecNode {
  override protected def doExecute(): RDD[InternalRow] =
    handed.getOrElse(throw new IllegalStateException("it has no rows outside of a task"))
}
