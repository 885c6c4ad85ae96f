package io.firesteel.changelog.over

import java.util.Comparator

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The rows of one partition in their order, with the changes of a micro-batch. Blocks are read when
 * a row of them is asked for.
 *
 * A row has a position: the place of its block, and its place in the block.
 *
 * @param order a total order: only equal rows compare as equal
 */
final private[over] class OverPartition(
    state: OverState,
    partition: UnsafeRow,
    order: Comparator[UnsafeRow]) {
  import OverPartition._

  private[this] val (stored, nextNumber) = state.read(partition)
  private[this] val blocks: Array[OverBlock] =
    if (stored.isEmpty) Array(OverBlock.ofRows(0L, Array.empty)) else stored.toArray
  private[this] var next = nextNumber

  def entry(position: Long): OverEntry = rowsOf(blockOf(position))(placeOf(position))

  /** The position after another one; -1 after the last. */
  def after(position: Long): Long = {
    var (block, place) = (blockOf(position), placeOf(position) + 1)
    while (block < blocks.length && place >= rowsOf(block).length) {
      block += 1
      place = 0
    }
    if (block < blocks.length) at(block, place) else none
  }

  /** The position before another one; -1 before the first. */
  def before(position: Long): Long = {
    var (block, place) = (blockOf(position), placeOf(position) - 1)
    while (place < 0 && block > 0) {
      block -= 1
      place = rowsOf(block).length - 1
    }
    if (place < 0) none else at(block, place)
  }

  /**
   * Adds changes to the rows; returns the positions of the rows that changed.
   *
   * @param changes rows in their order, with the number of copies that come or go
   */
  def add(changes: Array[(UnsafeRow, Long)]): Seq[Long] = {
    val found = ArrayBuffer.empty[Long]
    var i = 0
    while (i < changes.length) {
      val block = blockFor(changes(i)._1)
      val last = if (block == blocks.length - 1) null else blocks(block).last
      val from = i
      while (i < changes.length && (last == null || order.compare(changes(i)._1, last) <= 0)) i += 1
      merge(block, changes, from, i)
      blocks(block).rows.indices.foreach { place =>
        if (blocks(block).rows(place).isChanged) found += at(block, place)
      }
    }
    found.toSeq
  }

  /** The block that has a row, or would have it. */
  private def blockFor(row: UnsafeRow): Int = {
    var (low, high) = (0, blocks.length - 1)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (order.compare(row, blocks(middle).last) <= 0) high = middle else low = middle + 1
    }
    low
  }

  private def merge(block: Int, changes: Array[(UnsafeRow, Long)], from: Int, until: Int): Unit = {
    val old = rowsOf(block)
    val merged = Array.newBuilder[OverEntry]
    merged.sizeHint(old.length + until - from)
    var (i, j) = (0, from)
    while (i < old.length || j < until) {
      val compared =
        if (i >= old.length) 1
        else if (j >= until) -1
        else order.compare(old(i).row, changes(j)._1)
      if (compared < 0) {
        merged += old(i)
        i += 1
      } else {
        val before = if (compared == 0) old(i).before else 0L
        val after = state.entries.present(before + changes(j)._2)
        if (compared == 0 || after != before)
          merged += new OverEntry(changes(j)._1, before, after)
        if (compared == 0) i += 1
        j += 1
      }
    }
    blocks(block).rows = merged.result()
    blocks(block).isChanged = true
  }

  private def rowsOf(block: Int): Array[OverEntry] = {
    val its = blocks(block)
    if (its.rows == null) its.rows = state.rowsOf(partition, its.number)
    its.rows
  }

  /** Writes the blocks that have changed; with a time to live all blocks, so that none expires. */
  def save(): Unit = {
    val written = ArrayBuffer.empty[Written]
    blocks.indices.foreach { i =>
      val block = blocks(i)
      if (!block.isChanged && !state.entries.expires)
        written += new Written(block.number, block.last, block.rows, false)
      else append(block, rowsOf(i).filter(_.after != 0L), written)
    }
    if (written.isEmpty) state.remove(partition)
    else if (written.size == 1) {
      val only = written.head
      if (only.number != 0L) {
        if (only.rows == null) only.rows = state.rowsOf(partition, only.number)
        state.removeBlock(partition, only.number)
      }
      state.putRows(partition, only.rows.toSeq)
    } else {
      val bounds = written.map { block =>
        val number = if (block.number == 0L) fresh() else block.number
        if (block.isChanged) state.putBlock(partition, number, block.rows.toSeq)
        number -> block.last
      }
      state.putList(partition, next, bounds.toSeq)
    }
  }

  /** Adds what is left of a block: split if it is large, with the rows before it if it is small. */
  private def append(
      block: OverBlock,
      left: Array[OverEntry],
      written: ArrayBuffer[Written]): Unit = {
    val joins = left.nonEmpty && left.length < OverBlock.fewest && written.nonEmpty
    val rows = if (joins) {
      val before = written.remove(written.size - 1)
      if (before.rows == null) before.rows = state.rowsOf(partition, before.number)
      if (before.number != 0L) state.removeBlock(partition, before.number)
      before.rows ++ left
    } else left
    if (rows.isEmpty) { if (block.number != 0L) state.removeBlock(partition, block.number) }
    else {
      val pieces = (rows.length + OverBlock.most - 1) / OverBlock.most
      val size = (rows.length + pieces - 1) / pieces
      rows.grouped(size).zipWithIndex.foreach { case (piece, i) =>
        written += new Written(if (i == 0) block.number else 0L, piece.last.row, piece, true)
      }
    }
  }

  private def fresh(): Long = {
    next += 1
    next - 1
  }
}

private[over] object OverPartition {

  private val none = -1L

  private def at(block: Int, place: Int): Long = (block.toLong << 32) | place
  private def blockOf(position: Long): Int = (position >>> 32).toInt
  private def placeOf(position: Long): Int = position.toInt

  /** A block as it will be in state; number 0 if it has none yet. */
  final private class Written(
      val number: Long,
      val last: UnsafeRow,
      var rows: Array[OverEntry],
      val isChanged: Boolean)
}
