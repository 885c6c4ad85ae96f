package io.firesteel.changelog.topn

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.fold.{BoundColumns, FoldLimits}
import io.firesteel.changelog.plan.{Places, PlanText}
import io.firesteel.changelog.state.{ChangelogContract, StateEntries, StateLayout, StatefulTask, UnaryChangelogExec}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, AttributeSet, SortOrder}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo
import org.apache.spark.sql.types.IntegerType

/**
 * Executes [[TopN]]. The columns of the child are `partition ++ columns ++ kindIn`, in this order.
 */
final private[changelog] case class ChangelogTopNExec(
    partition: Seq[Attribute],
    columns: Seq[Attribute],
    order: Seq[SortOrder],
    places: Places,
    rank: Option[Attribute],
    strategy: String,
    rowKey: Seq[Attribute],
    plannedBy: String,
    contract: ChangelogContract,
    stateInfo: Option[StatefulOperatorStateInfo],
    child: SparkPlan)
  extends UnaryChangelogExec {

  override def shortName: String = "changelogTopN"
  override def output: Seq[Attribute] = partition ++ columns ++ rank ++ contract.kindOut
  override def producedAttributes: AttributeSet = outputSet -- child.outputSet
  override def clusteredBy: Seq[Attribute] = partition

  private def topNLayout = TopNLayout(partition, columns, places, order, contract.kindIn.nonEmpty)
  override def layout: StateLayout = topNLayout.state

  /** Whether the rows wait until the watermark closes their window, and are then emitted. */
  private def isOnce: Boolean = contract.kindOut.isEmpty

  override def emitsAtClose: Boolean = isOnce
  override protected def alwaysPlaced: Boolean = isOnce

  override protected def shown: Seq[String] =
    PlanText.topN(partition, order, places, strategy, rowKey) ++ Option.when(isOnce)("once")

  override def firedMessage: String =
    "the first rows of each partition are kept in state, and " +
      (if (isOnce) "emitted once, when the watermark closes their window"
       else "each micro-batch emits their changes")

  override def firedValues: Map[String, String] = Map(
    "operator" -> "TopN",
    "changelogMode" -> contract.mode,
    "strategy" -> strategy,
    "rowKey" -> rowKey.map(_.name).mkString(", "),
    "places" -> places.toString,
    "partition" -> partition.map(_.name).mkString(", "),
    "order" -> order.map(_.sql).mkString(", "),
    "state" -> stateText
  ) ++ shuffleText

  override def withState(
      info: Option[StatefulOperatorStateInfo],
      inputs: Seq[SparkPlan]): SparkPlan = copy(stateInfo = info, child = inputs.head)

  override protected def task(): StatefulTask = {
    val (layout, at, before) = (topNLayout, places, contract.updateBefore)
    val limit = conf.getConf(ChangelogConf.MAX_BUFFERED_ROWS)
    // The optimizer may know that a column has no nulls in this micro-batch; state may have some.
    val row = (partition ++ columns).map(_.withNullability(true))
    val (sortBy, key) = (BoundColumns.order(order, row), BoundColumns.of(rowKey, row))
    val of = BoundColumns.of(partition, row)
    val kindAt = if (contract.kindIn.isEmpty) -1 else row.size
    val placeColumn = rank.getOrElse(AttributeReference("place", IntegerType)())
    val (out, made) = (output, row ++ (placeColumn +: contract.kindOut.toSeq))
    val changed: StatefulTask.OfOneInput = (entries, _, rows) => {
      val identity = RowIdentity.of(key)
      val ranked = new RankedRows(sortBy, at, identity)
      val emitted = new PlacedOutput(ColumnProjection(out, made))
      if (layout.isFirst) {
        val first = new FirstRows(of, ranked, identity)
        new FinalFirst(
          rows,
          FoldLimits.ofThisTask(limit),
          layout,
          first,
          before,
          emitted,
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
            emitted,
            entries)
        else new FinalTopN(
          rows,
          FoldLimits.ofThisTask(limit),
          layout,
          ranked,
          identity,
          changes,
          emitted,
          entries)
      }
    }
    def fold(entries: StateEntries, place: Int, rows: Iterator[InternalRow]) = {
      changed(entries, place, rows).foreach(_ => ())
      Iterator.empty
    }
    if (isOnce) StatefulTask.ofOne(fold(_, _, _), ChangelogTopNExec.closing(layout))
    else StatefulTask.ofOne(changed)
  }
}

private[changelog] object ChangelogTopNExec {

  /** The rows of the windows that the watermark has closed. Their state goes. */
  private def closing(layout: TopNLayout): StatefulTask.AtClose = (entries, closed) => {
    val made = new TopNRows(layout)
    val rows = entries.all.filter(entry => closed.isOf(entry.key)).flatMap { entry =>
      if (layout.isFirst) Iterator.single(made.joinedRow(entry.key, entry.value))
      else Iterator.fill(math.toIntExact(entry.value.getLong(0)))(entry.key)
    }
    rows ++ { entries.close(closed); Iterator.empty }
  }
}
