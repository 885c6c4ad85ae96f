package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.fold.{FoldIterator, FoldLimits, OpenSession, OpenSessions}
import io.firesteel.core.rows.KeyIndex

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Folds the rows of a task by session, below the exchange. The last key of a row is its time.
 *
 * A late row would make a session of rows that are not late longer, so each is passed on by itself.
 *
 * @param endAt place of the end of a row's own session
 * @param lateUntil rows whose session ends at this time or before it are late; in microseconds
 */
final private[aggregate] class PartialSessions(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: AggregateLayout,
    endAt: Int,
    lateUntil: Long)
  extends FoldIterator(rows, limits) {

  private[this] val startAt = layout.numKeys - 1
  private[this] val keys = new SessionKeys(layout)
  private[this] val groups = new KeyIndex(keys.isNumber, startAt)
  private[this] val made = new AggregateRows(layout)
  private[this] val sessions = ArrayBuffer.empty[OpenSessions[GroupState]]
  private[this] val late = ArrayBuffer.empty[UnsafeRow]
  private[this] var (count, taken) = (0, 0L)

  override protected def held: Int = count
  override protected def bytes: Long = groups.bytes + count * layout.stateBytes + taken

  private[this] val merge = (to: OpenSession[GroupState], from: OpenSession[GroupState]) => {
    layout.mergeValue(to.state, made.valueOf(from.state))
    count -= 1
  }

  override protected def fold(row: InternalRow): Unit = {
    val (start, end) = (row.getLong(startAt), row.getLong(endAt))
    if (layout.hasGrowing) taken += FoldLimits.bytesOf(row)
    if (end <= lateUntil) {
      val state = layout.newState()
      layout.add(state, row, 1)
      val delta = made.delta(keys.ofSession(keys.of(row), start), state).copy()
      late += delta
      count += 1
      taken += delta.getSizeInBytes
    } else {
      val group = groups.of(keys.of(row))
      if (group == sessions.size) sessions += new OpenSessions[GroupState]
      val session = sessions(group).at(start, end)(merge)
      if (session.state == null) {
        session.state = layout.newState()
        count += 1
      }
      layout.add(session.state, row, 1)
    }
  }

  override protected def drain(): Iterator[InternalRow] = {
    val ofSessions = sessions.indices.iterator.flatMap { group =>
      sessions(group).all.iterator.map { its =>
        made.delta(keys.ofSession(groups.key(group), its.start), its.state)
      }
    }
    (late.iterator ++ ofSessions).concat(emptied())
  }

  private def emptied(): Iterator[InternalRow] = {
    groups.clear()
    sessions.clear()
    late.clear()
    count = 0
    taken = 0L
    Iterator.empty
  }
}
