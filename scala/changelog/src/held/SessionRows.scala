package io.firesteel.changelog.held

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.fold.{ArrivedRows, FoldLimits, RowBytes}
import io.firesteel.changelog.state.StateTable

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types.{BinaryType, DataType}

/** The rows of open sessions in the store, in no order. */
private[held] trait SessionRows {

  /** Adds a row; it may be in the store after the next [[write]] only. */
  def add(key: UnsafeRow, row: UnsafeRow): Unit

  def write(): Unit

  /** Bytes of rows that are not in the store. */
  def bytes: Long

  /**
   * Takes the rows of a key whose times are those of closed sessions out of the store. The next row
   * overwrites the one before. To be read to its end.
   */
  def take(key: UnsafeRow, isClosed: Long => Boolean): Iterator[UnsafeRow]
}

/** An entry for each row, in checkpoints of earlier versions. */
final private[held] class SingleRows(table: StateTable, names: ArrivedRows, timeAt: Int)
  extends SessionRows {

  override def bytes: Long = 0L
  override def write(): Unit = ()

  override def add(key: UnsafeRow, row: UnsafeRow): Unit =
    table.put(key, names.next(), row, position = row.getLong(timeAt))

  override def take(key: UnsafeRow, isClosed: Long => Boolean): Iterator[UnsafeRow] =
    table.entriesOf(key).flatMap { case (entry, row) =>
      val time = row.getLong(timeAt)
      Option.when(isClosed(time)) {
        table.remove(key, entry, position = time)
        row
      }
    }
}

/**
 * An entry for the rows that a key got in a micro-batch, or for some of them if they are many: a key
 * with a million rows has no entry with all of them. Most sessions have several rows, and what
 * closes is found by a scan of all entries.
 *
 * @param fields the number of columns of a row
 */
final private[held] class BlocksOfRows(
    table: StateTable,
    names: ArrivedRows,
    timeAt: Int,
    fields: Int)
  extends SessionRows {
  import BlocksOfRows._

  private[this] val toValue = ColumnProjection(Array[DataType](BinaryType))
  private[this] val blocks = new java.util.HashMap[UnsafeRow, Block]()
  private[this] var held = 0L

  override def bytes: Long = held

  override def add(key: UnsafeRow, row: UnsafeRow): Unit = {
    val known = blocks.get(key)
    val block = if (known != null) known else new Block
    if (known == null) blocks.put(key.copy(), block)
    val size = sizeOf(row)
    block.rows += row.copy()
    block.bytes += size
    held += size
    if (block.rows.size >= fullRows || block.bytes >= fullBytes) {
      put(key, names.next(), block.rows)
      held -= block.bytes
      block.rows.clear()
      block.bytes = 0L
    }
  }

  override def write(): Unit = {
    blocks.forEach((key, block) =>
      if (block.rows.nonEmpty) put(key, names.next(), block.rows))
    blocks.clear()
    held = 0L
  }

  override def take(key: UnsafeRow, isClosed: Long => Boolean): Iterator[UnsafeRow] =
    table.entriesOf(key).flatMap { case (entry, value) =>
      val (closed, open) =
        RowBytes.read(value.getBinary(0), fields).partition(row => isClosed(row.getLong(timeAt)))
      if (open.isEmpty) table.remove(key, entry)
      else if (closed.nonEmpty) put(key, entry, open)
      closed
    }

  private def put(key: UnsafeRow, entry: UnsafeRow, rows: collection.Seq[UnsafeRow]): Unit =
    table.put(key, entry, toValue(InternalRow(RowBytes.of(rows))))
}

private object BlocksOfRows {

  /** A block with so many rows, or so many bytes, is written. */
  val fullRows: Int = 256
  val fullBytes: Long = 1L << 20

  final class Block {
    val rows: ArrayBuffer[UnsafeRow] = ArrayBuffer.empty
    var bytes: Long = 0L
  }

  def sizeOf(row: UnsafeRow): Long = row.getSizeInBytes + FoldLimits.overhead
}
