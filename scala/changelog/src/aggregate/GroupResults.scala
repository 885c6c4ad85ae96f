package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.state.{ClosedGroups, StateEntries}
import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeProjection, UnsafeRow}

/**
 * The result rows of groups. One per task.
 *
 * @param results builds the row from a group's key and its functions' buffers; its last column is
 *   the row kind
 */
final private[aggregate] class GroupResults(layout: AggregateLayout, results: UnsafeProjection) {

  private[this] val buffer = new GenericInternalRow(layout.results.map(_.width).sum)
  private[this] val joined = new JoinedRow

  /** The row, without its kind; the next call overwrites it. */
  def of(key: InternalRow, state: GroupState): UnsafeRow = {
    var at = 0
    layout.results.foreach { r =>
      r.fill(state, buffer, at)
      at += r.width
    }
    results(joined(key, buffer))
  }

  /** The results of the groups that the watermark has closed, as inserts. Their state goes. */
  def closing(entries: StateEntries, closed: ClosedGroups): Iterator[InternalRow] = {
    val keys = new AggregateRows(layout)
    val rows = entries.all
      .filter(entry => layout.isOfGroup(entry.key) && closed.isOf(entry.key))
      .flatMap { entry =>
        val state = layout.newState()
        layout.mergeValue(state, entry.value)
        Option.when(layout.rows.count(state) > 0) {
          val row = of(keys.groupKeyOf(entry.key), state)
          row.setByte(row.numFields - 1, RowKind.Insert)
          row: InternalRow
        }
      }
    rows ++ { entries.close(closed); Iterator.empty }
  }
}
