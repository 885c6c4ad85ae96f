package io.firesteel.changelog.aggregate

import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.changes.RowKind

import org.apache.spark.sql.catalyst.InternalRow

/**
 * Emits the results of the sessions that the watermark has closed, as inserts. Their state goes.
 * Memory: the keys that have such a session.
 */
final private[aggregate] class ClosingSessions(
    layout: AggregateLayout,
    results: GroupResults,
    entries: StateEntries) {

  private[this] val state = new SessionState(layout, entries)

  /** @param until the time that the watermark has reached, in microseconds */
  def rows(until: Long): Iterator[InternalRow] = {
    val keys = state.keysEndingBy(until).map(_.copy()).toArray
    keys.iterator.flatMap { key =>
      val (over, open) = state.read(key).all.partition(_.end <= until)
      state.write(key, open)
      over.iterator.map { session =>
        val row =
          results.of(state.keys.ofSession(key, session.start), state.get(key, session.start))
        state.remove(key, session.start)
        row.setByte(row.numFields - 1, RowKind.Insert)
        row: InternalRow
      }
    }
  }
}
