package io.firesteel.changelog.state

import io.firesteel.changelog.common.ChangelogErrors

import java.nio.ByteOrder

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, JoinedRow, Literal, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{BinaryType, IntegerType, LongType}

/**
 * One of the tables in an operator's store, as its tasks see it. An entry is found by a key of the
 * operator, and among those of one key by columns of the table's own.
 *
 * Rows that are given may be overwritten by the next call. One per task and table.
 */
final private[changelog] class StateTable(entries: StateEntries, layout: StateLayout, number: Int) {

  private[this] val table = layout.tables(number)
  private[this] val width = layout.key.length - 3
  private[this] val keys: Seq[Expression] = layout.key.fields.toSeq.take(width).zipWithIndex.map {
    case (field, i) => BoundReference(i, field.dataType, nullable = true)
  }
  private[this] val mine = Literal(number, IntegerType)
  private[this] val toKey = UnsafeProjection.create(
    keys ++ Seq(
      mine,
      BoundReference(width, LongType, nullable = false),
      BoundReference(width + 1, BinaryType, nullable = false)))
  private[this] val toPrefix = UnsafeProjection.create(keys :+ mine)
  private[this] val ownKey = UnsafeProjection.create(keys)
  private[this] val toValue =
    UnsafeProjection.create(Seq[Expression](BoundReference(0, BinaryType, nullable = false)))
  private[this] val joined = new JoinedRow
  private[this] val entryRow = new UnsafeRow(table.entry.length)
  private[this] val valueRow = new UnsafeRow(table.value.length)

  /**
   * The value of an entry; null when there is none.
   *
   * @param position where the entry stands in the order of its key, if the table has one
   */
  def get(key: InternalRow, entry: UnsafeRow, position: Long = 0L): UnsafeRow = {
    val stored = entries.get(keyOf(key, position, entry))
    if (stored == null) null else valueOf(stored)
  }

  def put(key: InternalRow, entry: UnsafeRow, value: UnsafeRow, position: Long = 0L): Unit =
    entries.put(keyOf(key, position, entry), toValue(InternalRow(value.getBytes)))

  def remove(key: InternalRow, entry: UnsafeRow, position: Long = 0L): Unit =
    entries.remove(keyOf(key, position, entry))

  /**
   * Visits the entries of a key by their positions, the smallest first, for as long as `visit` says
   * so. Entries of one position come in any order.
   *
   * RocksDB keeps the keys of a store in the order of their bytes, and a position is stored as bytes
   * that sort like it: nothing is held, and what is not visited is not read. The default provider has
   * no order: there all entries of the key are held in memory and sorted.
   *
   * @param most entries of one key that may be held; with more it is an error that names RocksDB
   */
  def inOrder(key: InternalRow, most: Int)(
      visit: (Long, UnsafeRow, UnsafeRow) => Boolean): Unit =
    if (entries.sortsKeys) {
      entries.scanWhile(toPrefix(key)) { (stored, value) =>
        visit(positionOf(stored), entryOf(stored), valueOf(value))
      }
    } else {
      val held = ArrayBuffer.empty[(Long, UnsafeRow, UnsafeRow)]
      entries.scan(toPrefix(key)) { (stored, value) =>
        if (held.size >= most) throw ChangelogErrors.tooManyInOrder(table.name, most)
        held += ((positionOf(stored), entryOf(stored).copy(), valueOf(value).copy()))
      }
      val sorted = held.sortBy(_._1).iterator
      while (sorted.hasNext && visit.tupled(sorted.next())) {}
    }

  /** Visits the entries of a key, in no order. */
  def scan(key: InternalRow)(visit: (UnsafeRow, UnsafeRow) => Unit): Unit =
    entries.scan(toPrefix(key)) { (stored, value) => visit(entryOf(stored), valueOf(value)) }

  /** Every entry of the table: the operator's key, the table's own columns, the value. */
  def all: Iterator[(UnsafeRow, UnsafeRow, UnsafeRow)] = entries.all.collect {
    case pair if pair.key.getInt(width) == number =>
      (ownKey(pair.key), entryOf(pair.key), valueOf(pair.value))
  }

  private def keyOf(key: InternalRow, position: Long, entry: UnsafeRow): UnsafeRow =
    toKey(joined(key, InternalRow(StateTable.toSortable(position), entry.getBytes)))

  private def positionOf(stored: UnsafeRow): Long =
    StateTable.fromSortable(stored.getLong(width + 1))

  private def entryOf(stored: UnsafeRow): UnsafeRow = {
    val own = stored.getBinary(width + 2)
    entryRow.pointTo(own, own.length)
    entryRow
  }

  private def valueOf(stored: UnsafeRow): UnsafeRow = {
    val own = stored.getBinary(0)
    valueRow.pointTo(own, own.length)
    valueRow
  }
}

private[state] object StateTable {

  /** The number as a word whose bytes in memory, unsigned, sort as numbers do. */
  def toSortable(number: Long): Long = swapped(number ^ Long.MinValue)

  def fromSortable(word: Long): Long = swapped(word) ^ Long.MinValue

  // Spark writes a row's words as they lie in memory.
  private def swapped(word: Long): Long =
    if (ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN) word else java.lang.Long.reverseBytes(word)
}
