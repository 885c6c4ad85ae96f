package io.firesteel.changelog.held

import io.firesteel.changelog.state.{ArrivedRows, StateEntries, StateLayout, StateTable, TableLayout}

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeArrayData, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{ArrayType, DataType, LongType, StructField, StructType}

/**
 * The rows of open sessions, and the bounds of each key's sessions.
 *
 * {{{
 *   key | table    | position | entry                                | value
 *   k=1 | sessions |          |                                      | starts and ends, in order
 *   k=1 | rows     | time     | version of the store, number therein | the row
 * }}}
 *
 * @param timeAt the place of the time in a row, in microseconds, as `gap`
 */
final private[held] class SessionState(
    entries: StateEntries,
    layout: StateLayout,
    gap: Long,
    timeAt: Int) {

  private[this] val sessions = new StateTable(entries, layout, 0)
  private[this] val rows = new StateTable(entries, layout, 1)
  private[this] val whole = UnsafeProjection.create(Array.empty[DataType])(InternalRow.empty).copy()
  private[this] val toBounds = UnsafeProjection.create(SessionState.bounds.map(_.dataType).toArray)

  /**
   * Adds rows with their keys.
   *
   * @param limit keys whose sessions are held in memory at once
   */
  def add(added: Iterator[(UnsafeRow, UnsafeRow)], names: ArrivedRows, limit: Int): Unit = {
    val changed = mutable.HashMap.empty[UnsafeRow, Sessions]
    def write(): Unit = {
      changed.foreach { case (key, its) => put(key, its) }
      changed.clear()
    }
    added.foreach { case (key, row) =>
      val time = row.getLong(timeAt)
      val its = changed.getOrElse(
        key, {
          if (changed.size >= limit) write()
          val stored = read(sessions.get(key, whole))
          changed(key.copy()) = stored
          stored
        })
      its.add(time, time + gap)
      rows.put(key, names.next(), row, position = time)
    }
    write()
  }

  /** The rows of the sessions that end at a time or before it, with their bounds; they go. */
  def closing(until: Long, toOutput: UnsafeProjection): Iterator[InternalRow] = {
    val closed = mutable.ArrayBuffer.empty[UnsafeRow]
    sessions.all.foreach { case (key, _, value) =>
      if (read(value).all.exists(_.end <= until)) closed += key.copy()
    }
    val joined = new JoinedRow
    closed.iterator.flatMap { key =>
      val (over, open) = read(sessions.get(key, whole)).all.partition(_.end <= until)
      val before = new Sessions(over)
      put(key, new Sessions(open))
      rows.entriesOf(key).flatMap { case (entry, row) =>
        val time = row.getLong(timeAt)
        before.of(time).map { session =>
          rows.remove(key, entry, position = time)
          toOutput(joined(row, InternalRow(session.start, session.end))): InternalRow
        }
      }
    }
  }

  private def read(value: UnsafeRow): Sessions =
    if (value == null) new Sessions(Nil)
    else {
      val (starts, ends) = (value.getArray(0), value.getArray(1))
      new Sessions((0 until starts.numElements()).map { i =>
        Session(starts.getLong(i), ends.getLong(i))
      })
    }

  private def put(key: UnsafeRow, its: Sessions): Unit =
    if (its.all.isEmpty) sessions.remove(key, whole)
    else {
      val (starts, ends) = (its.all.map(_.start).toArray, its.all.map(_.end).toArray)
      sessions.put(
        key,
        whole,
        toBounds(InternalRow(
          UnsafeArrayData.fromPrimitiveArray(starts),
          UnsafeArrayData.fromPrimitiveArray(ends)))
      )
    }
}

private[held] object SessionState {

  val bounds: StructType = StructType(Seq(
    StructField("starts", ArrayType(LongType, containsNull = false)),
    StructField("ends", ArrayType(LongType, containsNull = false))))

  def layout(keys: Seq[DataType], columns: Seq[DataType]): StateLayout = StateLayout.ofTables(
    "session_rows",
    keys,
    Seq(
      TableLayout("sessions", StructType(Nil), bounds),
      TableLayout(
        "rows",
        ArrivedRows.entry,
        StructType(columns.zipWithIndex.map { case (t, i) =>
          StateLayout.field("row", i.toString, t)
        }))
    )
  )
}
