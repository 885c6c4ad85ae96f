package io.firesteel.changelog.temporal

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.fold.{ArrivedRows, FoldLimits, RowBytes, Tally}
import io.firesteel.changelog.state.{StateEntries, StateLayout, StateTable, TableLayout, WholeKey}

import io.firesteel.core.changes.RowKind
import io.firesteel.core.expressions.Apart

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, JoinedRow, Literal, Predicate, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.LeftOuter
import org.apache.spark.sql.types.{BinaryType, DataType, StructField, StructType}

/**
 * Left rows whose time the watermark has not reached, and the versions of each key.
 *
 * {{{
 *   key | table    | position | entry                                | value
 *   k=1 | versions |          |                                      | versions, the newest first
 *   k=1 | rows     | time     | version of the store, number therein | the left row
 * }}}
 *
 * Of the versions up to the watermark only the newest can still be asked for, so the others go when
 * a version of their key comes. The newest stays, however old it is.
 */
final private[temporal] class TemporalState(
    entries: StateEntries,
    layout: StateLayout,
    spec: TemporalSpec) {

  private[this] val versions = new StateTable(entries, layout, 0)
  private[this] val rows = new StateTable(entries, layout, 1)
  private[this] val whole = ColumnProjection(Array.empty[DataType])(InternalRow.empty).copy()
  private[this] val toBytes = ColumnProjection(Array[DataType](BinaryType))

  /** @param passed versions up to this time are no longer asked for, but the newest */
  def addVersions(
      added: Iterator[InternalRow],
      in: Seq[Attribute],
      passed: Long,
      limits: FoldLimits): Unit = {
    val toKey = ColumnProjection(spec.rightKeys, in)
    val toRow = ColumnProjection(spec.rightColumns, in)
    val changed = mutable.HashMap.empty[UnsafeRow, Versions]
    var (held, fresh, bytes) = (0L, 0L, 0L)
    def holds(row: UnsafeRow): Unit = {
      held += 1
      bytes += row.getSizeInBytes + FoldLimits.overhead
    }
    def write(): Unit = {
      changed.foreach { case (key, its) => put(key, its.since(passed)) }
      changed.clear()
      held = 0
      fresh = 0
      bytes = 0
      limits.budget.releaseTo(0)
    }
    // A few keys of many versions are not read and written again for each one that comes.
    def isWorth = fresh > 0 && (fresh * 2 >= held || changed.size >= TemporalState.manyKeys)
    added.foreach { row =>
      val key = toKey(row)
      if (!key.anyNull) {
        if (isWorth && (held >= limits.entries || !limits.budget.hold(bytes))) write()
        val its = changed.getOrElse(
          key, {
            val all = stored(key)
            all.foreach(holds)
            val made = new Versions(spec, all)
            changed(key.copy()) = made
            made
          })
        val version = toRow(row).copy()
        holds(version)
        fresh += 1
        its.add(version)
      }
    }
    write()
  }

  /** Keeps left rows until their time. Those without one have no version. */
  def hold(
      held: Iterator[InternalRow],
      in: Seq[Attribute],
      names: ArrivedRows): Iterator[InternalRow] = {
    val toKey = ColumnProjection(spec.leftKeys, in)
    val toRow = ColumnProjection(spec.leftColumns, in)
    val result = new TemporalRows(spec)
    held.flatMap { row =>
      val kept = toRow(row)
      if (kept.isNullAt(spec.leftTimeAt)) result.of(kept, null)
      else {
        rows.put(toKey(row), names.next(), kept, position = kept.getLong(spec.leftTimeAt))
        None
      }
    }
  }

  /**
   * The same of rows that may be retracted until their time. Those without one never close, so they
   * are not in the result.
   *
   * @param limits of the rows whose net change is held in memory, beside retractions of rows still to
   *   come
   */
  def holdChanges(
      changes: Iterator[InternalRow],
      in: Seq[Attribute],
      kindAt: Int,
      names: ArrivedRows,
      limits: FoldLimits): Unit = {
    val (isKeyed, whole) = (spec.leftKeys.forall(isOfLeft), WholeKey.row())
    lazy val toOwnKey = ColumnProjection(spec.leftKeys, spec.leftColumns)
    def toKey(row: UnsafeRow) = if (isKeyed) toOwnKey(row) else whole
    val toRow = ColumnProjection(spec.leftColumns, in)
    val net = new Tally.Map()
    def timeOf(row: UnsafeRow) = row.getLong(spec.leftTimeAt)
    def apply(): Unit = {
      val gone = mutable.HashSet.empty[UnsafeRow]
      net.forEach { (row, tally) =>
        if (tally.count < 0) { val _ = gone.add(toKey(row).copy()) }
        else (1L to tally.count).foreach(_ =>
          rows.put(toKey(row), names.next(), row, position = timeOf(row)))
      }
      // A row may be retracted before it comes: what is not found yet stays.
      val _ = net.values.removeIf(_.count >= 0)
      gone.foreach { key =>
        rows.entriesOf(key).foreach { case (entry, row) =>
          val tally = net.get(row)
          if (tally != null && tally.count < 0) {
            tally.count += 1
            rows.remove(key, entry, position = timeOf(row))
          }
        }
      }
      val _ = net.values.removeIf(_.count >= 0)
    }
    var (added, bytes) = (0, 0L)
    changes.foreach { change =>
      val row = toRow(change)
      if (!row.isNullAt(spec.leftTimeAt)) {
        Tally.add(net, row, if (RowKind.isRetraction(change.getByte(kindAt))) -1L else 1L)
        added += 1
        bytes += row.getSizeInBytes + FoldLimits.overhead
        if (added >= limits.entries || !limits.budget.hold(bytes)) {
          apply()
          added = 0
          bytes = 0
          limits.budget.releaseTo(0)
        }
      }
    }
    apply()
  }

  private def isOfLeft(key: Attribute) = spec.leftColumns.exists(_.exprId == key.exprId)

  /** The left rows up to a time with their versions; they go. */
  def joined(until: Long): Iterator[InternalRow] = {
    val due = mutable.LinkedHashSet.empty[UnsafeRow]
    rows.all.foreach { case (key, _, row) =>
      if (row.getLong(spec.leftTimeAt) <= until && !due.contains(key)) due += key.copy()
    }
    val result = new TemporalRows(spec)
    due.iterator.flatMap { key =>
      val its = read(key)
      rows.entriesOf(key).flatMap { case (entry, row) =>
        val time = row.getLong(spec.leftTimeAt)
        if (time > until) None
        else {
          rows.remove(key, entry, position = time)
          result.of(row, if (key.anyNull) null else its.at(time))
        }
      }
    }
  }

  private def read(key: UnsafeRow): Versions = new Versions(spec, stored(key))

  private def stored(key: UnsafeRow): Seq[UnsafeRow] = {
    val all = versions.get(key, whole)
    if (all == null) Nil else RowBytes.read(all.getBinary(0), spec.rightColumns.size)
  }

  private def put(key: UnsafeRow, its: Seq[UnsafeRow]): Unit =
    if (its.isEmpty) versions.remove(key, whole)
    else versions.put(key, whole, toBytes(InternalRow(RowBytes.of(its))))
}

private[temporal] object TemporalState {

  /** Keys that are written when memory is at its limit, whatever they had before. */
  private val manyKeys = 1000

  def layout(keys: Seq[DataType], columns: Seq[DataType]): StateLayout = StateLayout.ofTables(
    "temporal_join",
    keys,
    Seq(
      TableLayout(
        "versions",
        StructType(Nil),
        StructType(Seq(StructField("versions", BinaryType)))),
      TableLayout(
        "rows",
        ArrivedRows.entry,
        StructType(columns.zipWithIndex.map { case (t, i) =>
          StateLayout.field("row", i.toString, t)
        }))
    )
  )
}

/** The rows of the result. One instance per task. */
final private[temporal] class TemporalRows(spec: TemporalSpec) {

  private[this] val both = spec.leftColumns ++ spec.rightColumns
  private[this] val toPair = ColumnProjection(both, both)
  private[this] val toAlone = ColumnProjection(
    spec.leftColumns ++ spec.rightColumns.map(column => Literal(null, column.dataType)),
    spec.leftColumns)
  private[this] val isMatch = spec.condition.map(c => Predicate.create(Apart.alone(c), both))
  private[this] val joined = new JoinedRow

  /** @param version null if there is none */
  def of(left: UnsafeRow, version: UnsafeRow): Option[InternalRow] = {
    val isThere = version != null &&
      (spec.deletedAt < 0 || !version.getBoolean(spec.deletedAt)) &&
      isMatch.forall(_.eval(joined(left, version)))
    if (isThere) Some(toPair(joined(left, version)))
    else Option.when(spec.joinType == LeftOuter)(toAlone(left))
  }
}
