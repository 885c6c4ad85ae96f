package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.GroupState
import io.firesteel.changelog.fold.{OpenSession, OpenSessions}
import io.firesteel.changelog.state.StateEntries
import io.firesteel.core.rows.{ColumnProjection, KeyIndex}

import java.nio.ByteBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow, JoinedRow, UnsafeRow}

/**
 * The open sessions in the store. Each is a group as any other, whose last key is its start; an
 * entry for each key has the bounds of its sessions.
 *
 * {{{
 *   set | key | start | slots          | values
 *   -1  | k=1 | 10:00 | of the session |
 *   -2  | k=1 | null  |                | starts and ends, in order
 * }}}
 */
final private[aggregate] class SessionState(layout: AggregateLayout, entries: StateEntries) {

  private[this] val made = new AggregateRows(layout)
  val keys = new SessionKeys(layout)

  /** The bounds of a key's sessions. */
  def read(common: UnsafeRow): OpenSessions[GroupState] = {
    val sessions = new OpenSessions[GroupState]
    val stored = entries.get(made.windowEntryOf(keys.ofBounds(common)))
    if (stored != null) {
      val bytes = ByteBuffer.wrap(stored.getBinary(layout.valuesAt))
      while (bytes.hasRemaining) sessions.append(bytes.getLong(), bytes.getLong())
    }
    sessions
  }

  def write(common: UnsafeRow, sessions: collection.Seq[OpenSession[GroupState]]): Unit = {
    val entry = made.windowEntryOf(keys.ofBounds(common))
    if (sessions.isEmpty) entries.remove(entry)
    else {
      val bytes = ByteBuffer.allocate(16 * sessions.size)
      sessions.foreach(its => bytes.putLong(its.start).putLong(its.end))
      entries.put(entry, made.valueOf(bytes.array))
    }
  }

  /** The keys with a session that ends at a time or before it. */
  def keysEndingBy(until: Long): Iterator[UnsafeRow] =
    layout.ranges.iterator.flatMap(_.ofKeys(entries)).filter { entry =>
      val bytes = ByteBuffer.wrap(entry.value.getBinary(layout.valuesAt))
      // In order of their starts, sessions that do not touch are in order of their ends.
      bytes.getLong(8) <= until
    }.map(entry => keys.ofStored(entry.key))

  def get(common: UnsafeRow, start: Long): GroupState = stateOf(valueOf(common, start))

  /** The value of a session's entry; the next call may overwrite it. */
  def valueOf(common: UnsafeRow, start: Long): UnsafeRow = entries.get(entryOf(common, start))

  def stateOf(value: UnsafeRow): GroupState = {
    val state = layout.newState()
    layout.mergeValue(state, value)
    state
  }

  def put(common: UnsafeRow, start: Long, state: GroupState): Unit =
    entries.put(entryOf(common, start), made.valueOf(state))

  def remove(common: UnsafeRow, start: Long): Unit = entries.remove(entryOf(common, start))

  /** Adds the state of a session in memory to another one. */
  def merge(to: GroupState, from: GroupState): Unit = layout.mergeValue(to, made.valueOf(from))

  private def entryOf(common: UnsafeRow, start: Long): UnsafeRow =
    made.entryOf(keys.ofSession(common, start))
}

/** The keys of sessions: what their rows have in common, and then the start. One per task. */
final private[aggregate] class SessionKeys(layout: AggregateLayout) {

  private[this] val startAt = layout.numKeys - 1
  private[this] val types = layout.keyTypes.take(layout.numKeys)
  private[this] val common = types.init.zipWithIndex.map { case (t, i) =>
    BoundReference(i, t, nullable = true)
  }
  private[this] val toCommon = ColumnProjection(common)
  private[this] val toStored =
    ColumnProjection(common.map(c => c.copy(ordinal = c.ordinal + 1)))
  private[this] val toWhole = ColumnProjection(types.toArray)
  private[this] val (start, joined) = (new GenericInternalRow(1), new JoinedRow)

  /** Whether what rows have in common is one field of eight bytes. */
  val isNumber: Boolean = KeyIndex.isNumber(common)

  /** What a row, or a row between the halves, has in common with the others of its session. */
  def of(row: InternalRow): UnsafeRow = toCommon(row)

  /** The same of a key of the store. */
  def ofStored(key: UnsafeRow): UnsafeRow = toStored(key)

  /** The key of the session that starts at a time. */
  def ofSession(common: UnsafeRow, time: Long): UnsafeRow = {
    start.setLong(0, time)
    toWhole(joined(common, start))
  }

  /** The key of the entry with the bounds of all sessions: it has no start. */
  def ofBounds(common: UnsafeRow): UnsafeRow = {
    val key = ofSession(common, 0L)
    key.setNullAt(startAt)
    key
  }
}
