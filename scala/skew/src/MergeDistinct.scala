package io.firesteel.skew

import io.firesteel.core.rows.MemoryBudget
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow

/**
 * The half of a distinct aggregation above the exchange. It finds the distinct values of all blocks
 * and updates each group's functions once for each of them.
 *
 * If Spark refuses memory, it spills. It divides the values it holds, and all blocks to come, among
 * sixteen files by the values' hashes. Another merge reads each file, and may spill again with
 * other bits of the hash. A group can then be emitted several times, each time with the states of
 * one file. The final aggregate merges these states, as it merges a group's states of other tasks.
 */
private[skew] final class MergeDistinct(
    start: MergeDistinctStart,
    budget: MemoryBudget,
    level: Int,
    spilled: Long => Unit) {
  import MergeDistinct._

  private[this] val groups = start.newGroups()
  private[this] val columns = start.columns.map(_.newMerge(groups, Hashes.salt(level + 1))).toArray
  private[this] var spill: SpilledBlocks = _
  private[this] var writer: BlockWriter = _
  private[this] var numbers = new Array[Int](64) // the numbers in `groups` of a block's groups

  /** A row for each group in `blocks`: key, then states. The row is reused. */
  def rows(blocks: Iterator[Array[Byte]]): Iterator[InternalRow] = {
    blocks.foreach { block =>
      if (spill != null || !merged(block)) divide(block)
    }
    if (spill == null) emit()
    else {
      sendAll()
      spill.finish()
      // One file at a time: the merge of a file is created when the file before it has been read.
      Iterator.range(0, files).flatMap { file =>
        val next = new MergeDistinct(start, budget, level + 1, spilled)
        next.rows(spill.blocks(file))
      }
    }
  }

  /**
   * Merges a block. If Spark refuses memory, everything held goes to files and the result is false:
   * the block must be divided, too. A value of it may then be written twice, which is harmless for
   * a set. Its states must not be merged twice: they are last in a block and need no memory.
   */
  private def merged(block: Array[Byte]): Boolean = {
    val in = new BlockReader(block)
    readGroups(in)
    var ok = budget.hold(held) || groups.measured() && budget.hold(held) || !maySpill
    var column = 0
    while (ok && column < columns.length) {
      val merge = columns(column)
      var left = in.int()
      while (ok && left > 0) {
        val some = math.min(left, merge.room)
        merge.add(some, numbers, in)
        ok = merge.room > 0 || flushed(merge)
        left -= some
      }
      var values = in.int()
      while (ok && values > 0) {
        merge.readValue(in)
        left = in.int()
        while (ok && left > 0) {
          val some = math.min(left, merge.room)
          merge.addGroups(some, numbers, in)
          ok = merge.room > 0 || flushed(merge)
          left -= some
        }
        values -= 1
      }
      ok = ok && flushed(merge)
      column += 1
    }
    if (ok) readStates(in)
    else startSpilling()
    ok
  }

  /** Flushes a column; false if Spark refuses the memory to continue. */
  private def flushed(merge: MergeColumn): Boolean = {
    merge.flush()
    val growth = merge.values.growth
    val may = growth == 0L || budget.hold(held + growth) || !maySpill
    if (may && growth > 0L) merge.values.grow()
    may
  }

  private def readGroups(in: BlockReader): Unit = {
    val count = in.int()
    if (count > numbers.length) numbers = new Array[Int](math.max(count, numbers.length * 2))
    var i = 0
    while (i < count) {
      numbers(i) = groups.readKey(in)
      i += 1
    }
  }

  private def readStates(in: BlockReader): Unit = {
    var left = in.int()
    while (left > 0) {
      groups.mergeState(numbers(in.int()), in)
      left -= 1
    }
  }

  /** Spilling does not help if there is little to divide, or no bits of the hash are left. */
  private def maySpill: Boolean =
    level < levels && groups.size + columns.map(_.values.size).sum > leastPairs

  private def startSpilling(): Unit = {
    spill = new SpilledBlocks(files)
    writer = new BlockWriter(
      groups,
      columns.map(_.isNumber),
      files,
      Hashes.file(level),
      (file, block) => spill.add(file, block))
    spilled(held)
    sendAll()
  }

  /** Divides a block among the files without looking for duplicates. */
  private def divide(block: Array[Byte]): Unit = {
    val in = new BlockReader(block)
    readGroups(in)
    columns.indices.foreach { column =>
      var left = in.int()
      while (left > 0) {
        columns(column).pass(column, numbers, in, writer)
        left -= 1
      }
      var values = in.int()
      while (values > 0) {
        columns(column).passGroups(column, numbers, in, writer)
        values -= 1
      }
    }
    readStates(in)
    if (groups.size > dividedGroups || groups.haveGrown && !budget.hold(held)) sendAll()
  }

  /** Writes everything held to the files. */
  private def sendAll(): Unit = {
    columns.indices.foreach { column =>
      columns(column).values.drainAll(column, writer)
      columns(column).forget()
    }
    writer.states(0, groups.size)
    writer.flush()
    groups.clear()
    budget.releaseTo(0L)
  }

  private def held: Long = {
    var bytes = groups.bytesNow() + (if (writer == null) 0L else writer.bytes)
    columns.foreach(bytes += _.bytes)
    bytes
  }

  private def emit(): Iterator[InternalRow] = {
    val row = new GenericInternalRow(start.outputTypes.length)
    Iterator.range(0, groups.size).map { group =>
      var at = copy(groups.key(group), 0, row, 0)
      at = copy(groups.aggregates.state(groups.buffer(group)), at, row, at)
      columns.foreach { column =>
        at = copy(column.state(group), at, row, at)
      }
      row
    } ++ { budget.releaseTo(0L); Iterator.empty }
  }

  /** Copies a row's fields to `to` from `at`, and returns the place after the last. */
  private def copy(from: InternalRow, first: Int, to: GenericInternalRow, at: Int): Int = {
    var i = 0
    while (i < from.numFields) {
      to.update(at + i, from.get(i, start.outputTypes(first + i)))
      i += 1
    }
    at + from.numFields
  }
}

private[skew] object MergeDistinct {
  private val files = 16
  private val levels = 7
  private val leastPairs = 64
  private val dividedGroups = 64 << 10
}
