package io.firesteel.shuffle

import io.firesteel.core.FiredOperator
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeProjection, UnsafeRow, XxHash64}
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, UnknownPartitioning}
import org.apache.spark.sql.execution.{CollapseCodegenStages, LeafExecNode, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

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
    val rest = CollapseCodegenStages().apply(merging.transformUp { case leaf: HandedOverExec =>
      leaf.copy(handed = Some(handed))
    }).execute()
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

/** Looks at the rows of a task, and says until when they are handed on one by one. */
final private class RowsAlone(
    hashOf: InternalRow => Long,
    limits: LocalAggregateLimits,
    out: SQLMetric,
    alone: SQLMetric,
    aggregated: SQLMetric)
  extends Switch {

  private[this] val rate = new KeyRate
  private[this] var seen = 0L
  private[this] var nextLook = RowsAlone.firstLook
  private[this] var pays = true

  override def goesOn: Boolean = pays

  override def see(row: InternalRow): Unit = {
    alone += 1
    out += 1
    if (!limits.allowAnything) look(row)
  }

  private def look(row: InternalRow): Unit = {
    rate.add(hashOf(row))
    seen += 1
    if (seen == nextLook) {
      pays = limits.allow(rate.distinct, rate.largestShare)
      nextLook += math.min(seen, RowsAlone.rowsBetweenLooks)
    }
  }

  override def before(rows: Iterator[InternalRow]): Iterator[InternalRow] =
    rows.map { row => aggregated += 1; row }

  override def behind(rows: Iterator[InternalRow]): Iterator[InternalRow] =
    rows.map { row => out += 1; row }
}

private object RowsAlone {
  val firstLook = 1L << 10
  val rowsBetweenLooks = 1L << 17
}

/** Hashes the key of a row. */
private object KeyHash {

  def of(keys: Seq[Attribute], input: Seq[Attribute]): InternalRow => Long =
    if (keys.forall(key => UnsafeRow.isFixedLength(key.dataType))) ofWords(keys.size)
    else {
      val hash = UnsafeProjection.create(Seq(new XxHash64(keys)), input)
      row => hash(row).getLong(0)
    }

  /** The first words of a row. */
  private def ofWords(words: Int): InternalRow => Long = { row =>
    var hash = 0L
    var i = 0
    while (i < words) {
      hash = mixed(hash ^ (if (row.isNullAt(i)) -1L else row.getLong(i)))
      i += 1
    }
    hash
  }

  /** Every bit of the result depends on every bit: the finaliser of MurmurHash3. */
  private def mixed(word: Long): Long = {
    val first = (word ^ (word >>> 33)) * 0xff51afd7ed558ccdL
    val second = (first ^ (first >>> 33)) * 0xc4ceb9fe1a85ec53L
    second ^ (second >>> 33)
  }
}
