package io.firesteel.changelog.held

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.fold.{ArrivedRows, FoldLimits, OpenSession, OpenSessions}
import io.firesteel.changelog.state.{StateEntries, StateLayout, StateTable, TableLayout}

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{JoinedRow, UnsafeArrayData, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{ArrayType, BinaryType, DataType, LongType, StructField, StructType}

/**
 * The rows of open sessions, and the bounds of each key's sessions.
 *
 * {{{
 *   key | table    | position | entry                                | value
 *   k=1 | sessions |          |                                      | starts and ends, in order
 *   k=1 | rows     |          | version of the store, number therein | rows
 * }}}
 *
 * Checkpoints of earlier versions have an entry for each row, with its time as the position. The
 * name of the value's column says which layout a checkpoint has.
 *
 * @param timeAt the place of the time in a row, in microseconds, as `gap`
 * @param fields the number of columns of a row
 * @param version of the store
 */
final private[held] class SessionState(
    entries: StateEntries,
    layout: StateLayout,
    gap: Long,
    timeAt: Int,
    fields: Int,
    version: Long) {

  private[this] val sessions = new StateTable(entries, layout, 0)
  private[this] val rows: SessionRows = {
    val (table, names) = (new StateTable(entries, layout, 1), new ArrivedRows(version))
    if (SessionState.isPacked(layout.value.fieldNames.toSeq))
      new BlocksOfRows(table, names, timeAt, fields)
    else new SingleRows(table, names, timeAt)
  }
  private[this] val whole = ColumnProjection(Array.empty[DataType])(InternalRow.empty).copy()
  private[this] val toBounds = ColumnProjection(SessionState.bounds.map(_.dataType).toArray)

  /** Adds rows with their keys. */
  def add(added: Iterator[(UnsafeRow, UnsafeRow)], limits: FoldLimits): Unit = {
    val changed = mutable.HashMap.empty[UnsafeRow, OpenSessions[Null]]
    var keyBytes = 0L
    def mayGrow =
      changed.size < limits.entries && limits.budget.hold(keyBytes + rows.bytes)
    def write(): Unit = {
      changed.foreach { case (key, its) => put(key, its.all) }
      changed.clear()
      keyBytes = 0L
      rows.write()
    }
    added.foreach { case (key, row) =>
      if (changed.nonEmpty && !mayGrow) write()
      val its = changed.getOrElse(
        key, {
          val stored = read(sessions.get(key, whole))
          changed(key.copy()) = stored
          keyBytes += key.getSizeInBytes + 4 * FoldLimits.overhead
          stored
        })
      val time = row.getLong(timeAt)
      val _ = its.at(time, Math.addExact(time, gap))((_, _) => ())
      rows.add(key, row)
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
      val all = read(sessions.get(key, whole))
      put(key, all.all.filter(_.end > until))
      def over(time: Long) = all.of(time).filter(_.end <= until)
      rows.take(key, over(_).nonEmpty).flatMap { row =>
        over(row.getLong(timeAt)).map { its =>
          toOutput(joined(row, InternalRow(its.start, its.end))): InternalRow
        }
      }
    }
  }

  private def read(value: UnsafeRow): OpenSessions[Null] = {
    val sessions = new OpenSessions[Null]
    if (value != null) {
      val (starts, ends) = (value.getArray(0), value.getArray(1))
      (0 until starts.numElements()).foreach(i =>
        sessions.append(starts.getLong(i), ends.getLong(i)))
    }
    sessions
  }

  private def put(key: UnsafeRow, its: collection.Seq[OpenSession[Null]]): Unit =
    if (its.isEmpty) sessions.remove(key, whole)
    else {
      val (starts, ends) = (its.map(_.start).toArray, its.map(_.end).toArray)
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

  private val packed = "packed_session_rows"

  /** Whether a store with these columns of its value has several rows in an entry. */
  def isPacked(columns: Seq[String]): Boolean = columns.contains(s"${packed}_value")

  def layout(keys: Seq[DataType], columns: Seq[DataType], isPacked: Boolean): StateLayout =
    StateLayout.ofTables(
      if (isPacked) packed else "session_rows",
      keys,
      Seq(
        TableLayout("sessions", StructType(Nil), bounds),
        TableLayout(
          "rows",
          ArrivedRows.entry,
          if (isPacked) StructType(Seq(StateLayout.field("rows", "bytes", BinaryType)))
          else StructType(columns.zipWithIndex.map { case (t, i) =>
            StateLayout.field("row", i.toString, t)
          })
        )
      )
    )
}
