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
  blocks.indices.foreach(i => blocks(i).from = i)
  private[this] var next = nextNumber
  private[this] lazy val lastChanged = blocks.lastIndexWhere(_.isChanged)

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
  def add(changes: Array[(UnsafeRow, Long)]): IndexedSeq[Long] = {
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
    found.toIndexedSeq
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

  private def rowsOf(block: Int): Array[OverEntry] = rowsOf(blocks(block))

  /** The first position of the block that a position is in. */
  def startOf(position: Long): Long = at(blockOf(position), 0)

  /** Whether a position is the first of its block. */
  def isStart(position: Long): Boolean = placeOf(position) == 0

  /** The functions' buffers before a block's first position; null at the partition's start. */
  def bufferBefore(start: Long): UnsafeRow = blocks(blockOf(start)).start

  def setBufferBefore(start: Long, buffer: UnsafeRow): Unit = blocks(blockOf(start)).start = buffer

  /** Whether this block or a later one has changes. */
  def hasChangesFrom(start: Long): Boolean = blockOf(start) <= lastChanged

  /** The first position whose block is written with other rows than it had. */
  def firstRearranged: Option[Long] =
    arranged.filter(_.isChanged).map(_.from).minOption.map(at(_, 0))

  /** The blocks as they will be in state, without rows that are gone. */
  lazy val arranged: Seq[OverBlock] = {
    val all = ArrayBuffer.empty[OverBlock]
    blocks.indices.foreach { i =>
      val block = blocks(i)
      if (block.isChanged) append(block, rowsOf(i).filter(_.after != 0L), all)
      else all += block
    }
    all.toSeq
  }

  /** Writes the blocks that have changed; with a time to live all blocks, so that none expires. */
  def save(): Unit = {
    val kept = arranged
    kept.headOption.foreach(_.start = null)
    // Read before its block is removed.
    val only = if (kept.size == 1) rowsOf(kept.head).toSeq else Nil
    val numbers = kept.map(_.number).toSet
    stored.foreach { block =>
      if (block.number != 0L && (kept.size == 1 || !numbers(block.number)))
        state.removeBlock(partition, block.number)
    }
    if (kept.isEmpty) state.remove(partition)
    else if (kept.size == 1) state.putRows(partition, only)
    else {
      val written = kept.map { block =>
        if (!block.isChanged && !state.entries.expires) block
        else {
          val number = if (block.number == 0L) fresh() else block.number
          state.putBlock(partition, number, rowsOf(block).toSeq)
          new OverBlock(number, block.last, null, block.start)
        }
      }
      state.putList(partition, next, written)
    }
  }

  private def rowsOf(block: OverBlock): Array[OverEntry] = {
    if (block.rows == null) block.rows = state.rowsOf(partition, block.number)
    block.rows
  }

  /** Adds what is left of a block: split if it is large, with the rows before it if it is small. */
  private def append(
      block: OverBlock,
      left: Array[OverEntry],
      to: ArrayBuffer[OverBlock]): Unit = {
    val joins = left.nonEmpty && left.length < OverBlock.fewest && to.nonEmpty
    val before = if (joins) Some(to.remove(to.size - 1)) else None
    val rows = before.fold(left)(rowsOf(_) ++ left)
    val first = before.getOrElse(block)
    if (rows.nonEmpty) {
      val pieces = (rows.length + OverBlock.most - 1) / OverBlock.most
      rows.grouped((rows.length + pieces - 1) / pieces).zipWithIndex.foreach { case (piece, i) =>
        val made = OverBlock.ofRows(if (i == 0) first.number else 0L, piece)
        made.isChanged = true
        made.from = first.from
        if (i == 0) made.start = first.start
        to += made
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
}
