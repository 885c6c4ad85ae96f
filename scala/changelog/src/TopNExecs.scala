package io.firesteel.changelog

import io.firesteel.core.KeyReader
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, BindReferences, SortOrder, UnsafeProjection}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.types.IntegerType

/** The half of a Top-N below the exchange, where rows only come: see [[PartialTopN]]. */
final private[changelog] case class PartialTopNExec(
    partition: Seq[Attribute],
    order: Seq[SortOrder],
    places: Places,
    child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "PartialChangelogTopN"
  override def output: Seq[Attribute] = child.output

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"))

  override protected def doExecute(): RDD[InternalRow] = {
    val (limit, out) = (conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS), longMetric("numOutputRows"))
    val (keys, in, sortBy, at) =
      (partition, child.output, TopNExecs.bind(order, child.output), places)
    child.execute().mapPartitions { rows =>
      val ranked = new RankedRows(sortBy, at)
      new PartialTopN(
        KeyReader.unsafe(rows, in),
        limit,
        UnsafeProjection.create(keys, in),
        ranked,
        at)
        .map { row => out += 1; row }
    }
  }

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    copy(child = newChild)
}

/** Executes [[TopN]]. The columns of the child are `partition ++ columns ++ kindIn`, in this order. */
final private[changelog] case class ChangelogTopNExec(
    partition: Seq[Attribute],
    columns: Seq[Attribute],
    order: Seq[SortOrder],
    places: Places,
    rank: Option[Attribute],
    kindIn: Option[Attribute],
    kindOut: Attribute,
    updateBefore: Boolean,
    mode: String,
    stateInfo: Option[StatefulOperatorStateInfo],
    child: SparkPlan)
  extends StatefulChangelogExec {

  override def nodeName: String = "ChangelogTopN"
  override def shortName: String = "changelogTopN"
  override def output: Seq[Attribute] = partition ++ columns ++ rank :+ kindOut
  override def producedAttributes: AttributeSet = outputSet -- child.outputSet
  override def clusteredBy: Seq[Attribute] = partition

  private def topNLayout = TopNLayout(partition, columns, places, kindIn.nonEmpty)
  override def layout: StateLayout = topNLayout.state

  private def strategy: String = if (kindIn.isEmpty) "AppendFast" else "Retract"

  override def firedMessage: String =
    "the first rows of each partition are kept in state, and each micro-batch tells which changed"

  override def firedValues: Map[String, String] = Map(
    "operator" -> "TopN",
    "changelogMode" -> mode,
    "strategy" -> strategy,
    "places" -> places.toString,
    "partition" -> partition.map(_.name).mkString(", "),
    "order" -> order.map(_.sql).mkString(", "),
    "state" -> s"key ${layout.key.toDDL}; value ${layout.value.toDDL}"
  )

  override def withState(info: Option[StatefulOperatorStateInfo], child: SparkPlan): SparkPlan =
    copy(stateInfo = info, child = child)

  override protected def folded(): (StateStore, Iterator[InternalRow]) => Iterator[InternalRow] = {
    val (layout, at, before) = (topNLayout, places, updateBefore)
    val limit = conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
    val sortBy = TopNExecs.bind(order, partition ++ columns)
    val kindAt = if (kindIn.isEmpty) -1 else partition.size + columns.size
    val counts = StateCounts(longMetric("numUpdatedStateRows"), longMetric("numRemovedStateRows"))
    val placeColumn = rank.getOrElse(AttributeReference("place", IntegerType)())
    val (shown, made) = (output, partition ++ columns :+ placeColumn :+ kindOut)
    (store, rows) => {
      val ranked = new RankedRows(sortBy, at)
      val changes = new PlaceChanges(at, before, ranked)
      val toOutput = UnsafeProjection.create(shown, made)
      new FinalTopN(rows, limit, layout, kindAt, ranked, changes, toOutput, store, counts)
    }
  }
}

private[changelog] object TopNExecs {

  /** The order in terms of places in a row. */
  def bind(order: Seq[SortOrder], columns: Seq[Attribute]): Seq[SortOrder] =
    order.map(o => BindReferences.bindReference(o, columns))
}
