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
 * A partial aggregate that emits each row as a group of its own while few rows of a task have equal
 * keys. The final aggregate then does all the work. When that no longer pays, the task aggregates
 * its remaining rows.
 *
 * Flink's counterpart (`table.exec.local-hash-agg.adaptive.enabled`) starts by aggregating. This
 * one is planned only if a sample has few equal keys.
 *
 * Memory: some thousand hashes of keys; after the switch the memory of Spark's own aggregate.
 *
 * @param original the aggregate that this node replaces
 * @param merging aggregates groups of one row, above [[HandedOverExec]]
 * @param keys the first columns of `child`, whose rows are groups of one row
 * @param evidence the facts that allowed it, for `firesteel.explain`
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
    "rows go to the final aggregate unaggregated while few rows of a task have equal keys"
  override def firedValues: Map[String, String] =
    Map("keys" -> keys.map(_.sql).mkString(", ")) ++ evidence

  /**
   * The state of one row may be non-nullable where the state of many rows is nullable, as for a sum
   * that overflows.
   */
  override def output: Seq[Attribute] = child.output.zip(original.output).map {
    case (one, many) => one.withNullability(one.nullable || many.nullable)
  }
  override def outputPartitioning: Partitioning =
    UnknownPartitioning(child.outputPartitioning.numPartitions)

  /** For Spark's reuse of shuffles this node equals the aggregate that it replaces. */
  override protected def doCanonicalize(): SparkPlan = original.canonicalized

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "numRowsAlone" -> SQLMetrics.createMetric(sparkContext, "rows emitted unaggregated"),
    "numRowsAggregated" -> SQLMetrics.createMetric(sparkContext, "rows aggregated")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = child.execute()
    val handed = new HandedOverRDD(sparkContext, rows.getNumPartitions)
    // `DataFrame.rdd` executes plans in any thread, which may have no active session.
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

/** The rows of a task that remain to be aggregated. */
final private[shuffle] case class HandedOverExec(
    output: Seq[Attribute],
    handed: Option[HandedOverRDD] = None)
  extends LeafExecNode {
  override protected def doExecute(): RDD[InternalRow] =
    handed.getOrElse(throw new IllegalStateException("the rows exist only inside a task"))
}
