package io.firesteel.changelog.topn

import io.firesteel.changelog.ChangelogConf
import io.firesteel.changelog.fold.{BoundColumns, FoldLimits}
import io.firesteel.changelog.plan.Places
import io.firesteel.changelog.state.{StateEntries, StateLayout, StatefulChangelogExec, TimeToLive, Watermark}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, SortOrder, UnsafeProjection}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperatorStateInfo
import org.apache.spark.sql.types.IntegerType

/** Executes [[TopN]]. The columns of the child are `partition ++ columns ++ kindIn`, in this order. */
final private[changelog] case class ChangelogTopNExec(
    partition: Seq[Attribute],
    columns: Seq[Attribute],
    order: Seq[SortOrder],
    places: Places,
    rank: Option[Attribute],
    strategy: String,
    rowKey: Seq[Attribute],
    kindIn: Option[Attribute],
    kindOut: Attribute,
    updateBefore: Boolean,
    eventTime: Option[Attribute],
    watermark: Watermark,
    mode: String,
    ttl: Option[TimeToLive],
    stateInfo: Option[StatefulOperatorStateInfo],
    child: SparkPlan)
  extends StatefulChangelogExec {

  override def nodeName: String = "ChangelogTopN"
  override def shortName: String = "changelogTopN"
  override def output: Seq[Attribute] = partition ++ columns ++ rank :+ kindOut
  override def producedAttributes: AttributeSet = outputSet -- child.outputSet
  override def clusteredBy: Seq[Attribute] = partition

  private def topNLayout = TopNLayout(partition, columns, places, order, kindIn.nonEmpty)
  override def layout: StateLayout = topNLayout.state

  override def firedMessage: String =
    "the first rows of each partition are kept in state, and each micro-batch tells which changed"

  override def firedValues: Map[String, String] = Map(
    "operator" -> "TopN",
    "changelogMode" -> mode,
    "strategy" -> strategy,
    "rowKey" -> rowKey.map(_.name).mkString(", "),
    "places" -> places.toString,
    "partition" -> partition.map(_.name).mkString(", "),
    "order" -> order.map(_.sql).mkString(", "),
    "state" -> stateText
  )

  override def withState(info: Option[StatefulOperatorStateInfo], child: SparkPlan): SparkPlan =
    copy(stateInfo = info, child = child)

  override protected def folded()
      : (StateEntries, Int, Iterator[InternalRow]) => Iterator[InternalRow] = {
    val (layout, at, before) = (topNLayout, places, updateBefore)
    val limit = conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
    val row = partition ++ columns
    val (sortBy, key) = (BoundColumns.order(order, row), BoundColumns.of(rowKey, row))
    val of = BoundColumns.of(partition, row)
    val kindAt = if (kindIn.isEmpty) -1 else row.size
    val placeColumn = rank.getOrElse(AttributeReference("place", IntegerType)())
    val (shown, made) = (output, row :+ placeColumn :+ kindOut)
    (entries, _, rows) => {
      val identity = RowIdentity.of(key)
      val ranked = new RankedRows(sortBy, at, identity)
      val out = new PlacedOutput(UnsafeProjection.create(shown, made))
      if (layout.isFirst) {
        val first = new FirstRows(of, ranked, identity)
        new FinalFirst(
          rows,
          FoldLimits.ofThisTask(limit),
          layout,
          first,
          before,
          out,
          entries)
      } else {
        val changes = new PlaceChanges(at, before, ranked)
        if (layout.retracting)
          new FinalRetract(
            rows,
            FoldLimits.ofThisTask(limit),
            layout,
            kindAt,
            ranked,
            changes,
            out,
            entries)
        else new FinalTopN(
          rows,
          FoldLimits.ofThisTask(limit),
          layout,
          ranked,
          identity,
          changes,
          out,
          entries)
      }
    }
  }
}
