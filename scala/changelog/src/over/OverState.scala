package io.firesteel.changelog.over

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.fold.{PackedValues, RowBytes, ValueTallies}
import io.firesteel.changelog.state.{StateEntries, StateLayout, StateTable, TableLayout}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{BinaryType, DataType, LongType, StructField, StructType}

/**
 * The state of an OVER: the rows of each partition in their order, in blocks. A change reads and
 * writes the blocks that it touches, and the list of the blocks.
 *
 * {{{
 *   partition | table      | entry | value
 *   k=1       | partitions |       | next number, last row of each block with its number, or all rows;
 *             |            |       | for each block but the first the functions' buffers before it
 *   k=1       | blocks     | 17    | rows with their numbers of copies
 * }}}
 *
 * The rows of a partition with one block are in the list. A store need not sort its keys.
 *
 * @param columns number of columns of a row
 * @param buffers number of columns of the functions' buffers; 0 if none are kept
 */
final private[over] class OverState(
    val entries: StateEntries,
    layout: StateLayout,
    columns: Int,
    buffers: Int) {

  private[this] val lists = new StateTable(entries, layout, 0)
  private[this] val blocks = new StateTable(entries, layout, 1)
  private[this] val whole = ColumnProjection(Array.empty[DataType])(InternalRow.empty).copy()
  private[this] val toNumber = ColumnProjection(Array[DataType](LongType))
  private[this] val toList = ColumnProjection(OverState.list.map(_.dataType).toArray)
  private[this] val toBlock = ColumnProjection(OverState.block.map(_.dataType).toArray)
  private[this] val packed = new ValueTallies(isNumber = false)

  /** Every partition. */
  def partitions(): Seq[UnsafeRow] = lists.all.map(_._1.copy()).toSeq

  /** The blocks of a partition, and the next free number of a block. */
  def read(partition: UnsafeRow): (Seq[OverBlock], Long) = {
    val stored = lists.get(partition, whole)
    if (stored == null) (Nil, 1L)
    else if (stored.isNullAt(1)) (Seq(OverBlock.ofRows(0L, unpack(stored.getBinary(2)))), 1L)
    else {
      packed.clear()
      PackedValues.unpack(stored.getBinary(1), columns, 0, packed)
      val starts = if (buffers == 0) null else RowBytes.read(stored.getBinary(3), buffers)
      val all = (0 until packed.size).map { i =>
        val start = if (buffers == 0 || i == 0) null else starts(i - 1)
        new OverBlock(packed.count(i), packed.row(i), null, start)
      }
      (all, stored.getLong(0))
    }
  }

  def rowsOf(partition: UnsafeRow, block: Long): Array[OverEntry] =
    unpack(blocks.get(partition, toNumber(InternalRow(block))).getBinary(0))

  def putBlock(partition: UnsafeRow, block: Long, rows: Seq[OverEntry]): Unit =
    blocks.put(partition, toNumber(InternalRow(block)), toBlock(InternalRow(pack(rows))))

  def removeBlock(partition: UnsafeRow, block: Long): Unit =
    blocks.remove(partition, toNumber(InternalRow(block)))

  /** Writes a partition with one block. */
  def putRows(partition: UnsafeRow, rows: Seq[OverEntry]): Unit =
    lists.put(partition, whole, toList(InternalRow(1L, null, pack(rows), null)))

  /** Writes the list of a partition's blocks. */
  def putList(partition: UnsafeRow, next: Long, blocks: Seq[OverBlock]): Unit = {
    packed.clear()
    blocks.foreach(block => packed.addRow(0, block.last, block.number))
    val starts = if (buffers == 0) null else RowBytes.of(blocks.tail.map(_.start))
    lists.put(partition, whole, toList(InternalRow(next, all(), null, starts)))
  }

  def remove(partition: UnsafeRow): Unit = lists.remove(partition, whole)

  private def pack(rows: Seq[OverEntry]): Array[Byte] = {
    packed.clear()
    rows.foreach(entry => packed.addRow(0, entry.row, entry.after))
    all()
  }

  private def all(): Array[Byte] =
    PackedValues.pack(packed, Array.range(0, packed.size), 0, packed.size)

  private def unpack(bytes: Array[Byte]): Array[OverEntry] = {
    packed.clear()
    PackedValues.unpack(bytes, columns, 0, packed)
    Array.tabulate(packed.size) { i =>
      new OverEntry(packed.row(i), packed.count(i), packed.count(i))
    }
  }
}

private[over] object OverState {

  private val list = StructType(Seq(
    StructField("next", LongType),
    StructField("blocks", BinaryType),
    StructField("rows", BinaryType),
    StructField("starts", BinaryType)))

  private val block = StructType(Seq(StructField("rows", BinaryType)))

  def layout(partition: Seq[DataType]): StateLayout = StateLayout.ofTables(
    "over",
    partition,
    Seq(
      TableLayout("partitions", new StructType(), list),
      TableLayout("blocks", StructType(Seq(StructField("block", LongType))), block)))
}
