package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.fold.{FoldIterator, FoldLimits, OpenSession, OpenSessions}
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.rows.KeyIndex

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * Adds partial results to the open sessions of their keys. Sessions that they join become one.
 * Nothing is emitted: sessions are, when they close; see [[ClosingSessions]].
 *
 * Of a key's sessions only those that partial results touch are read and written.
 *
 * @param end the number of the call whose result is the end of a session
 * @param lateUntil sessions that end at this time or before it are late; in microseconds
 */
final private[aggregate] class SessionFold(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: AggregateLayout,
    end: Int,
    lateUntil: Long,
    late: SQLMetric,
    entries: StateEntries)
  extends FoldIterator(rows, limits) {
  import SessionFold.KeySessions

  private[this] val startAt = layout.numKeys - 1
  private[this] val endSlot = layout.extreme(end)
  private[this] val state = new SessionState(layout, entries)
  private[this] val groups = new KeyIndex(state.keys.isNumber, startAt)
  private[this] val ofGroups = ArrayBuffer.empty[KeySessions]
  // `large` has the bytes of variable size, and of the bounds of all sessions of a key.
  private[this] var (count, large) = (0, 0L)

  override protected def held: Int = count
  override protected def bytes: Long = groups.bytes + count * layout.stateBytes + large

  override protected def fold(delta: InternalRow): Unit = {
    val added = layout.newState()
    layout.mergeDelta(added, delta)
    val (from, until) = (delta.getLong(startAt), endSlot.value(added).asInstanceOf[Long])
    if (until <= lateUntil) late += 1
    else {
      if (layout.hasGrowing) large += FoldLimits.bytesOf(delta)
      val common = state.keys.of(delta)
      val group = groups.of(common)
      if (group == ofGroups.size) {
        val stored = state.read(common)
        ofGroups += new KeySessions(stored)
        count += 1
        large += stored.all.size * FoldLimits.overhead
      }
      val its = ofGroups(group)
      val session = its.open.at(from, until) { (to, gone) =>
        state.merge(read(common, to), read(common, gone))
        its.gone ++= gone.storedAt
      }
      if (session.state != null || session.storedAt.nonEmpty)
        layout.mergeDelta(read(common, session), delta)
      else {
        session.state = added
        count += 1
      }
    }
  }

  private def read(common: UnsafeRow, session: OpenSession[GroupState]): GroupState = {
    if (session.state == null) {
      val stored = state.valueOf(common, session.storedAt.get)
      if (layout.isOfAnySize) large += 2L * stored.getSizeInBytes
      session.state = state.stateOf(stored)
      count += 1
    }
    session.state
  }

  override protected def drain(): Iterator[InternalRow] = {
    ofGroups.indices.foreach { group =>
      val (common, its) = (groups.key(group), ofGroups(group))
      its.gone.foreach(state.remove(common, _))
      its.open.all.foreach { session =>
        if (session.state != null) {
          session.storedAt.filter(_ != session.start).foreach(state.remove(common, _))
          state.put(common, session.start, session.state)
        }
      }
      state.write(common, its.open.all)
    }
    groups.clear()
    ofGroups.clear()
    count = 0
    large = 0L
    Iterator.empty
  }
}

private object SessionFold {

  /** The sessions of a key, and the starts of those in the store that others have taken in. */
  final class KeySessions(val open: OpenSessions[GroupState]) {
    val gone: ArrayBuffer[Long] = ArrayBuffer.empty
  }
}
