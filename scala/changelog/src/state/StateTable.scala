package io.firesteel.changelog.state

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.common.ChangelogErrors

import java.nio.ByteOrder

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, JoinedRow, Literal, UnsafeRow}
import org.apache.spark.sql.types.{BinaryType, IntegerType, LongType}

/**
 * One of the tables in an operator's store. The operator's key and the table's own columns identify
 * an entry.
 *
 * The next call may overwrite the rows that a call returns. One instance per task and table.
 */
final private[changelog] class StateTable(entries: StateEntries, layout: StateLayout, number: Int) {

  private[this] val table = layout.tables(number)
  private[this] val width = layout.key.length - 3
  private[this] val keys: Seq[Expression] = layout.key.fields.toSeq.take(width).zipWithIndex.map {
    case (field, i) => BoundReference(i, field.dataType, nullable = true)
  }
  private[this] val mine = Literal(number, IntegerType)
  private[this] val toKey = ColumnProjection(
    keys ++ Seq(
      mine,
      BoundReference(width, LongType, nullable = false),
      BoundReference(width + 1, BinaryType, nullable = false)))
  private[this] val toPrefix = ColumnProjection(keys :+ mine)
  private[this] val ownKey = ColumnProjection(keys)
  private[this] val toValue =
    ColumnProjection(Seq[Expression](BoundReference(0, BinaryType, nullable = false)))
  private[this] val joined = new JoinedRow
  private[this] val entryRow = new UnsafeRow(table.entry.length)
  private[this] val valueRow = new UnsafeRow(table.value.length)

  /**
   * The value of an entry; null if there is none.
   *
   * @param position the place of the entry in the order of its key, if the table has an order
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
   * Visits the entries of a key in ascending order of their positions, until `visit` returns false.
   * Entries with equal positions have no order.
   *
   * RocksDB keeps keys in the order of their bytes, and the bytes of a stored position sort like
   * the number: nothing is held in memory, and entries that are not visited are not read. The
   * default provider has no order: all entries of the key are held in memory and sorted.
   *
   * @param most entries of one key that may be held in memory; more are an error that names RocksDB
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

  /** The same until `visit` returns false. */
  def scanWhile(key: InternalRow)(visit: UnsafeRow => Boolean): Unit =
    entries.scanWhile(toPrefix(key)) { (stored, _) => visit(entryOf(stored)) }

  /** The entries of a key, in no order, to be read to the end; see [[StateEntries.withPrefix]]. */
  def entriesOf(key: InternalRow): Iterator[(UnsafeRow, UnsafeRow)] =
    entries.withPrefix(toPrefix(key)).map(pair => (entryOf(pair.key), valueOf(pair.value)))

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

  /** The number as a word whose bytes in memory, unsigned, sort like the number. */
  def toSortable(number: Long): Long = swapped(number ^ Long.MinValue)

  def fromSortable(word: Long): Long = swapped(word) ^ Long.MinValue

  // Spark writes the words of a row in native byte order.
  private def swapped(word: Long): Long =
    if (ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN) word else java.lang.Long.reverseBytes(word)
}
