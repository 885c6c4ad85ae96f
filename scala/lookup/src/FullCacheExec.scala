package io.firesteel.lookup

import io.firesteel.core.decide.FiredOperator
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.{BroadcastMode, BroadcastPartitioning, Partitioning}
import org.apache.spark.sql.execution.{LeafExecNode, SQLExecution}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.firesteel.executionOf

/**
 * A dimension loaded whole and kept, instead of a broadcast exchange (Flink: FULL cache).
 *
 * A batch query loads it once. A stream keeps it across micro-batches until `reload` is due.
 * Without a reload interval each micro-batch loads it, as Spark's own join with a table does.
 *
 * Memory: the table, on the driver and on each executor, as for any broadcast join.
 *
 * @param firedRule the strategy that planned this node
 * @param dimension optimized plan of the right side
 */
private[lookup] final case class FullCacheExec(
    firedRule: String,
    name: String,
    @transient dimension: LogicalPlan,
    mode: BroadcastMode,
    reload: Reload)
  extends LeafExecNode
  with FiredOperator {

  override def nodeName: String = "LookupFullCache"

  override val output: Seq[Attribute] = dimension.output

  override def outputPartitioning: Partitioning = BroadcastPartitioning(mode)

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "lookupLoads" -> SQLMetrics.createMetric(sparkContext, "loads"),
    "lookupLoadTime" -> SQLMetrics.createTimingMetric(sparkContext, "time to load"),
    "lookupCached" -> SQLMetrics.createMetric(sparkContext, "rows cached")
  )

  override protected def doExecute(): RDD[InternalRow] =
    throw new UnsupportedOperationException(s"$nodeName is only broadcast")

  override def doExecuteBroadcast[T](): Broadcast[T] =
    loaded.broadcast.asInstanceOf[Broadcast[T]]

  @transient private lazy val loaded: FullCache = {
    val stream = QueryScope.stream(sparkContext)
    stream.fold(load()) { id =>
      val key = FullCacheKey(
        sparkContext.applicationId,
        id,
        name,
        ScannedRelation.byValue(dimension.canonicalized),
        mode.canonicalized)
      FullCaches.get(key, QueryScope.batch(sparkContext), reload)(load())
    }
  }

  private def load(): FullCache = {
    val start = System.currentTimeMillis()
    dimension.refresh() // else Spark would list the files that existed when the query was analysed
    val rows = executionOf(session, dimension).executedPlan.executeCollect()
    val relation = mode.transform(rows)
    val end = System.currentTimeMillis()
    metrics("lookupLoads") += 1
    metrics("lookupLoadTime") += end - start
    metrics("lookupCached") += rows.length
    val execution = sparkContext.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)
    SQLMetrics.postDriverMetricUpdates(sparkContext, execution, metrics.values.toSeq)
    new FullCache(sparkContext.broadcast[Any](relation), start, end)
  }

  override def firedMessage: String = s"$name is loaded whole and kept"

  override def firedValues: Map[String, String] =
    Map("table" -> name, "cache" -> "FULL", "reload" -> reload.toString)

  /**
   * Leaves out the dimension's plan, which Spark shows as a query of its own, and the hash mode.
   */
  override protected def stringArgs: Iterator[Any] =
    LookupValues.shown(
      Seq(
        "table" -> name,
        "columns" -> LookupValues.names(output),
        "cache" -> "FULL",
        "reload" -> reload.toString))
}

/** A loaded dimension, with the begin and end of its load in milliseconds. */
private[lookup] final class FullCache(
    val broadcast: Broadcast[Any],
    val begun: Long,
    val ended: Long) {

  def isDue(reload: Reload, now: Long): Boolean = reload match {
    case Reload.EveryBatch => true
    case Reload.Periodic(interval, fromStart) =>
      now - (if (fromStart) begun else ended) >= interval
    case Reload.Timed(time, days) =>
      val day = 86400000L
      DayTime.lastBefore(time, now) - (days - 1) * day >= begun
  }
}
