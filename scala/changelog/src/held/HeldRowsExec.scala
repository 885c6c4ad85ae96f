package io.firesteel.changelog.held

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.fold.ArrivedRows
import io.firesteel.changelog.plan.PlanText
import io.firesteel.changelog.state.{ChangelogContract, ClosedGroups, StateEntries, StateLayout, StatefulTask, StateTable, TableLayout, UnaryChangelogExec}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo
import org.apache.spark.sql.types.StructType

/**
 * Executes [[io.firesteel.changelog.plan.HeldRows]].
 *
 * {{{
 *   by        | table | entry                                | value
 *   end=10:00 | rows  | version of the store, number therein | the row
 * }}}
 *
 * A row is written once and read once. When a window closes all keys of the store are visited, as
 * in Spark's own operators.
 */
final private[changelog] case class HeldRowsExec(
    by: Seq[Attribute],
    columns: Seq[Attribute],
    plannedBy: String,
    contract: ChangelogContract,
    stateInfo: Option[StatefulOperatorStateInfo],
    child: SparkPlan)
  extends UnaryChangelogExec {

  override def shortName: String = "changelogWindowRows"
  override def output: Seq[Attribute] = columns
  override def clusteredBy: Seq[Attribute] = by
  override protected def alwaysPlaced: Boolean = true
  override def emitsAtClose: Boolean = true
  override protected def shown: Seq[String] = Seq(PlanText.columns(by))

  override def layout: StateLayout = StateLayout.ofTables(
    "window_rows",
    by.map(_.dataType),
    Seq(TableLayout(
      "rows",
      ArrivedRows.entry,
      StructType(output.zipWithIndex.map {
        case (column, i) => StateLayout.field("row", i.toString, column.dataType)
      })))
  )

  override def firedMessage: String =
    "rows are kept in state until the watermark closes their window, and then emitted together"

  override def firedValues: Map[String, String] = Map(
    "operator" -> "WindowRows",
    "changelogMode" -> contract.mode,
    "keys" -> by.map(_.name).mkString(", "),
    "state" -> stateText
  ) ++ shuffleText

  override def withState(
      info: Option[StatefulOperatorStateInfo],
      inputs: Seq[SparkPlan]): SparkPlan = copy(stateInfo = info, child = inputs.head)

  override protected def task(): StatefulTask = {
    val (own, in, keys, version) = (layout, child.output, by, getStateInfo.storeVersion)
    val kept = columns
    def hold(entries: StateEntries, rows: Iterator[InternalRow]): Iterator[InternalRow] = {
      val toKey = ColumnProjection(keys, in)
      val toRow = ColumnProjection(kept, in)
      val arrived = new ArrivedRows(version)
      val table = new StateTable(entries, own, 0)
      rows.foreach(row => table.put(toKey(row), arrived.next(), toRow(row)))
      Iterator.empty
    }
    def release(entries: StateEntries, closed: ClosedGroups): Iterator[InternalRow] = {
      val table = new StateTable(entries, own, 0)
      table.all.filter { case (key, _, _) => closed.isOf(key) }.map { case (key, entry, row) =>
        table.remove(key, entry)
        row
      }
    }
    StatefulTask.ofOne((entries, _, rows) => hold(entries, rows), release(_, _))
  }
}
