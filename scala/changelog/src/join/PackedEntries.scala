package io.firesteel.changelog.join

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.plan.JoinedSide
import io.firesteel.changelog.state.StateEntries

import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow, JoinedRow, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.{UnsafeArrayWriter, UnsafeRowWriter}
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair
import org.apache.spark.sql.types.IntegerType

/** Reads and writes entries as [[PackedLayout]] lays them out. One instance per task. */
final private[join] class PackedEntries(entries: StateEntries, spec: JoinSpec) {
  import PackedEntries._

  private[this] val place = new GenericInternalRow(1)
  private[this] val keyed = new JoinedRow
  private[this] val toKey = {
    val types = spec.left.keys.map(_.dataType)
    ColumnProjection((types :+ IntegerType).zipWithIndex.map { case (t, i) =>
      BoundReference(i, t, nullable = i < types.size)
    })
  }
  private[this] val ofStored =
    ColumnProjection(spec.left.keys.zipWithIndex.map { case (key, i) =>
      BoundReference(i, key.dataType, nullable = true)
    })
  private[this] val value = new UnsafeRowWriter(3, initialBytes)
  private[this] val numbers = new UnsafeRowWriter(value, 4)
  private[this] val sides = Array(new SideCodec(spec.left, 0), new SideCodec(spec.right, 1))

  def present(copies: Long): Long = entries.present(copies)

  /** The entry, or null. It is copied, because rows are read from it after others. */
  def get(key: UnsafeRow, at: Int): UnsafeRow = {
    val stored = entries.get(keyOf(key, at))
    if (stored == null) null else stored.copy()
  }

  def remove(key: UnsafeRow, at: Int): Unit = entries.remove(keyOf(key, at))

  /** Writes a bucket of a side, or removes it if it is empty. */
  def putBucket(key: UnsafeRow, at: Int, side: Int, rows: PackedRows): Unit =
    if (rows.size == 0) remove(key, at)
    else {
      value.reset()
      value.zeroOutNullBytes()
      sides(side).write(rows)
      value.setNullAt(1 - side)
      value.setNullAt(spreadAt)
      entries.put(keyOf(key, at), value.getRow)
    }

  def putFirst(key: UnsafeRow, left: FirstPart, right: FirstPart): Unit =
    if (left.isEmpty && right.isEmpty) remove(key, first)
    else {
      value.reset()
      value.zeroOutNullBytes()
      writeOrNull(0, left.here)
      writeOrNull(1, right.here)
      if (left.isSpread || right.isSpread) {
        val start = value.cursor()
        numbers.resetRowWriter()
        writeSpread(0, left)
        writeSpread(2, right)
        value.setOffsetAndSizeFromPreviousCursor(spreadAt, start)
      } else value.setNullAt(spreadAt)
      entries.put(keyOf(key, first), value.getRow)
    }

  private def writeOrNull(side: Int, rows: PackedRows): Unit =
    if (rows.size == 0) value.setNullAt(side) else sides(side).write(rows)

  private def writeSpread(at: Int, side: FirstPart): Unit =
    if (side.isSpread) {
      numbers.write(at, side.rows)
      numbers.write(at + 1, side.buckets)
    } else {
      numbers.setNullAt(at)
      numbers.setNullAt(at + 1)
    }

  /** The key of the join in a key of the store. */
  def joinKeyOf(stored: UnsafeRow): UnsafeRow = ofStored(stored)

  /** Whether a key has this entry alone. */
  def isAllOf(entry: UnsafeRowPair): Boolean =
    entry.key.getInt(spec.left.keys.size) == first && entry.value.isNullAt(spreadAt)

  /** Adds the rows that an entry has of a side. */
  def read(entry: UnsafeRow, side: Int, into: PackedRows): Unit =
    if (!entry.isNullAt(side)) sides(side).read(entry, into)

  /** Reads what the first entry, if there is one, has of a side. */
  def readFirst(entry: UnsafeRow, side: Int, into: FirstPart): Unit = {
    into.clear()
    if (entry != null) {
      read(entry, side, into.here)
      if (!entry.isNullAt(spreadAt)) {
        val spread = entry.getStruct(spreadAt, 4)
        if (!spread.isNullAt(2 * side)) {
          into.rows = spread.getLong(2 * side)
          into.buckets = spread.getInt(2 * side + 1)
        }
      }
    }
    into.markRead()
  }

  private def keyOf(key: UnsafeRow, at: Int): UnsafeRow = {
    place.setInt(0, at)
    toKey(keyed(key, place))
  }

  /** The rows of one side in the value of an entry: an array of structs. */
  final private class SideCodec(side: JoinedSide, number: Int) {
    private[this] val width = side.stored.size
    private[this] val counts = side.countsMatches
    private[this] val fields = if (counts) 3 else 2
    private[this] val array = new UnsafeArrayWriter(value, 8)
    private[this] val element = new UnsafeRowWriter(array, fields)

    def write(rows: PackedRows): Unit = {
      val start = value.cursor()
      array.initialize(rows.size)
      var i = 0
      while (i < rows.size) {
        val from = array.cursor()
        element.resetRowWriter()
        element.write(0, rows.row(i))
        element.write(1, rows.copies(i))
        if (counts) element.write(2, rows.matches(i))
        array.setOffsetAndSizeFromPreviousCursor(i, from)
        i += 1
      }
      value.setOffsetAndSizeFromPreviousCursor(number, start)
    }

    def read(entry: UnsafeRow, into: PackedRows): Unit = {
      val stored = entry.getArray(number)
      val n = stored.numElements()
      var i = 0
      while (i < n) {
        val its = stored.getStruct(i, fields)
        into.add(its.getStruct(0, width), its.getLong(1), if (counts) its.getLong(2) else 0L)
        i += 1
      }
    }
  }
}

private[join] object PackedEntries {

  /** The place of the entry with the rows of both sides. */
  val first: Int = 0

  /** The column of [[PackedLayout]]'s numbers of buckets. */
  private val spreadAt: Int = 2

  private val initialBytes = 256
}
