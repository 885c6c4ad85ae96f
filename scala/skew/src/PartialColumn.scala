package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A column below the exchange: which of its values the task has met in which group.
 *
 * It begins with codes for the values. Where few groups share a value, or where the numbers are dense by
 * themselves, they go into a table of their own kind; and where they turn out new, one after the
 * other, they are sent on without a look.
 *
 * @param fields of a value that is not a number
 * @param sampleValues values after which it is judged
 * @param maxNewShare the share of new ones among the latter half of them above which the column is
 *   sent on as it comes
 */
private[skew] final class PartialColumn(
    column: Int,
    isNumber: Boolean,
    fields: Int,
    groups: Groups,
    writer: BlockWriter,
    sampleValues: Int,
    maxNewShare: Double) {
  import PartialColumn._

  private[this] val coded = new CodedValues(isNumber, fields, groups)
  private[this] val numbers = if (isNumber) new DistinctNumbers(groups.hash) else null
  private[this] val batch = if (isNumber) new NumberBatch(numbers) else null
  private[this] val rows = if (isNumber) null else new DistinctBytes(groups.hash)

  private[this] var values: DistinctValues = coded
  private[this] var isCoded = true

  private[this] var seen = 0L
  private[this] var nextLook = math.min(firstLook, sampleValues.toLong)
  private[this] var judged = 0L
  private[this] var newOnes = 0L
  private[this] var passes = false

  /** Values that were sent on without a look for duplicates. */
  var passedOn: Long = 0L

  /** Bytes held; where codes were left, the writer still reads them. */
  def bytes: Long = if (isCoded) coded.bytes else coded.bytes + values.bytes

  /** Bytes to be had for `grow` before more rows are added, or 0 while it need not grow. */
  def growth: Long = values.growth

  def grow(): Unit = if (isCoded && !coded.growthPays) leaveCodes() else values.grow()

  /** Takes the value that a row has in the field `at`, which is not null. */
  def add(group: Int, row: UnsafeRow, at: Int): Unit =
    if (isNumber) addNumber(group, row.getLong(at))
    else {
      val place = row.getLong(at) // of a field with a variable length: offset and size
      addBytes(group, row.getBaseObject, row.getBaseOffset + (place >>> 32), place.toInt)
    }

  /** Sends on all that it holds, and begins anew; then the writer must be flushed, and this cleared. */
  def drain(): Unit = {
    if (isNumber) addBatch()
    values.drain(column, writer)
  }

  def clear(): Unit = coded.clear()

  private def addNumber(group: Int, number: Long): Unit =
    if (isCoded) judge(1, if (coded.add(group, number)) 1 else 0)
    else {
      val (chunk, mask) = (DistinctNumbers.chunkOf(number), DistinctNumbers.bitOf(number))
      if (passes) {
        passedOn += 1
        writer.numbers(column, group, chunk, mask)
      } else {
        batch.put(group, chunk, mask)
        if (batch.isFull) addBatch()
      }
    }

  private def addBytes(group: Int, base: AnyRef, offset: Long, length: Int): Unit =
    if (isCoded) judge(1, if (coded.add(group, base, offset, length)) 1 else 0)
    else {
      val hash = Hashes.ofBytes(base, offset, length)
      if (passes) {
        passedOn += 1
        writer.bytes(column, group, base, offset, length, hash)
      } else judge(1, if (rows.add(group, base, offset, length, hash)) 1 else 0)
    }

  private def addBatch(): Unit = {
    val (some, before) = (batch.size, numbers.size)
    batch.add((_, _, _) => ())
    judge(some, numbers.size - before)
  }

  /** Counts some values, and how many of them were new. */
  private def judge(some: Int, newOnes: Int): Unit = {
    if (seen < sampleValues && seen * 2 >= sampleValues) {
      judged += some
      this.newOnes += newOnes
    }
    seen += some
    if (seen >= nextLook) look()
  }

  private def look(): Unit = {
    val isNew = seen >= sampleValues && newOnes > maxNewShare * judged
    if (seen >= sampleValues) newOnes = 0 // judged once
    nextLook = if (seen < sampleValues) math.min(seen * 2, sampleValues.toLong) else seen * 2
    if (isNew) passOn()
    else if (isCoded && !coded.pays) leaveCodes()
  }

  // What it has met it may meet again, and send on twice; a set does not mind.
  private def leaveCodes(): Unit = {
    isCoded = false
    coded.drain(column, writer)
    values = if (isNumber) numbers else rows
  }

  private def passOn(): Unit = {
    isCoded = false
    passes = true
    drain()
  }
}

private object PartialColumn {

  /** Values after which the codes are judged, and again whenever there are twice as many. */
  private val firstLook = 8192L
}
