package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, JoinedRow, Literal, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{BinaryType, IntegerType}

/**
 * One of the tables in an operator's store, as its tasks see it. An entry is found by a key of the
 * operator, and among those of one key by columns of the table's own.
 *
 * Rows that are given may be overwritten by the next call. One per task and table.
 */
final private[changelog] class StateTable(entries: StateEntries, layout: StateLayout, number: Int) {

  private[this] val table = layout.tables(number)
  private[this] val width = layout.key.length - 2
  private[this] val keys: Seq[Expression] = layout.key.fields.toSeq.take(width).zipWithIndex.map {
    case (field, i) => BoundReference(i, field.dataType, nullable = true)
  }
  private[this] val mine = Literal(number, IntegerType)
  private[this] val bytes = BoundReference(width, BinaryType, nullable = false)
  private[this] val toKey = UnsafeProjection.create(keys :+ mine :+ bytes)
  private[this] val toPrefix = UnsafeProjection.create(keys :+ mine)
  private[this] val ownKey = UnsafeProjection.create(keys)
  private[this] val toValue =
    UnsafeProjection.create(Seq[Expression](BoundReference(0, BinaryType, nullable = false)))
  private[this] val joined = new JoinedRow
  private[this] val entryRow = new UnsafeRow(table.entry.length)
  private[this] val valueRow = new UnsafeRow(table.value.length)

  /** The value of an entry; null when there is none. */
  def get(key: InternalRow, entry: UnsafeRow): UnsafeRow = {
    val stored = entries.get(keyOf(key, entry))
    if (stored == null) null else valueOf(stored)
  }

  def put(key: InternalRow, entry: UnsafeRow, value: UnsafeRow): Unit =
    entries.put(keyOf(key, entry), toValue(InternalRow(value.getBytes)))

  def remove(key: InternalRow, entry: UnsafeRow): Unit = entries.remove(keyOf(key, entry))

  /** Visits the entries of a key, in no order. */
  def scan(key: InternalRow)(visit: (UnsafeRow, UnsafeRow) => Unit): Unit =
    entries.scan(toPrefix(key)) { (stored, value) => visit(entryOf(stored), valueOf(value)) }

  /** Every entry of the table: the operator's key, the table's own columns, the value. */
  def all: Iterator[(UnsafeRow, UnsafeRow, UnsafeRow)] = entries.all.collect {
    case pair if pair.key.getInt(width) == number =>
      (ownKey(pair.key), entryOf(pair.key), valueOf(pair.value))
  }

  private def keyOf(key: InternalRow, entry: UnsafeRow): UnsafeRow =
    toKey(joined(key, InternalRow(entry.getBytes)))

  private def entryOf(stored: UnsafeRow): UnsafeRow = {
    val own = stored.getBinary(width + 1)
    entryRow.pointTo(own, own.length)
    entryRow
  }

  private def valueOf(stored: UnsafeRow): UnsafeRow = {
    val own = stored.getBinary(0)
    valueRow.pointTo(own, own.length)
    valueRow
  }
}
