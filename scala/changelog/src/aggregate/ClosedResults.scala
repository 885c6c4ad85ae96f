package io.firesteel.changelog.aggregate

import io.firesteel.changelog.state.{ClosedGroups, StateEntries}

import java.util.HashSet

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Takes the groups of sessions that the watermark has closed out of state, with their sets of values.
 * The end of a session is a result, so the whole store is read twice. Memory: the keys of the groups
 * that close.
 *
 * @param end the result, which is the largest of the ends of the session's rows
 */
final private[aggregate] class ClosedResults(layout: AggregateLayout, end: Int) {

  private[this] val made = new AggregateRows(layout)
  private[this] val slot = layout.extreme(end)
  private[this] val columns = layout.inValue(Array(slot))

  def evict(entries: StateEntries, closed: ClosedGroups): Unit = {
    val groups = new HashSet[UnsafeRow]
    entries.all.filter(entry => layout.isOfGroup(entry.key)).foreach { entry =>
      val state = layout.newState()
      columns.merge(state, entry.value)
      slot.value(state) match {
        case micros: Long if closed.isOver(micros) =>
          val _ = groups.add(made.groupKeyOf(entry.key).copy())
        case _ => ()
      }
    }
    if (!groups.isEmpty) entries.removeAll(key => groups.contains(made.groupKeyOf(key)))
  }
}
