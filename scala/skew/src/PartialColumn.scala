package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A column below the exchange: which of its values the task has met in which group.
 *
 * It begins with codes for the values. Where few groups share a value, or many are long, they go on into a
 * table of pairs; and where they turn out new, one after the other, they are sent on without a look. So are
 * the first of those that are too long for a code.
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
  private[this] val numbers =
    if (isNumber) new DistinctNumbers(groups.hash, Hashes.salt(0)) else null
  private[this] val batch = if (isNumber) new NumberBatch(numbers) else null
  private[this] val rows = if (isNumber) null else new DistinctBytes(groups.hash, Hashes.salt(0))

  private[this] var values: DistinctValues = coded
  private[this] var isCoded = true
  private[this] var met = 0L // values since the codes were begun
  private[this] var nextLook = firstLook
  private[this] var knownCodes = 0 // at the last look
  private[this] var knownPairs = 0
  private[this] var tooLong = 0L // bytes since then of values that are too long for a code

  private[this] var seen = 0L // values of the sample
  private[this] var newOnes = 0L
  private[this] var judged = 0L
  private[this] var isJudged = false
  private[this] var passes = false

  /** Values that were sent on without a look for duplicates. */
  var passedOn: Long = 0L

  /**
   * Whether it is to hold its values in another way from the next row on. Until then they are to be
   * drained, bit by bit, and then `left` is to be called.
   */
  var isLeaving: Boolean = false

  /**
   * Whether a value that was added has taken the last place, or the last of its way. A new group may, too:
   * this says nothing of it.
   */
  private[this] var isFull: Boolean = false

  /** Bytes of long values that were asked for: they fill many pages before their table grows. */
  private[this] var askedBytes: Long = 0L

  /** Bytes held; where codes were left, the writer still reads their values. */
  def bytes: Long = if (isCoded) coded.bytes else coded.bytes + values.bytes

  /** Makes room for another row, if need be; false when the memory for it is refused. */
  def makeRoom(holdMore: Long => Boolean): Boolean = {
    isFull = false
    val growth = values.growth
    if (isLeaving || growth == 0L && !hasUnasked) true
    else if (isCoded && !coded.growthPays) {
      leaveCodes()
      true
    } else {
      val may = holdMore(growth)
      if (may && growth > 0L) values.grow()
      if (!isNumber) askedBytes = rows.bytes
      may
    }
  }

  private def hasUnasked: Boolean = !isNumber && !isCoded && rows.bytes > askedBytes

  /** Takes the value that a row has in the field `at`, which is not null; whether it `isFull` now. */
  def add(group: Int, row: UnsafeRow, at: Int): Boolean =
    if (isNumber) addNumber(group, row.getLong(at))
    else {
      val place = row.getLong(at) // of a field with a variable length: offset and size
      addBytes(group, row.getBaseObject, row.getBaseOffset + (place >>> 32), place.toInt)
      isFull
    }

  /** Sends on what it holds, as [[DistinctValues.drain]] does. */
  def drain(from: Int): Int = {
    if (isNumber && from == 0) addBatch()
    values.drain(column, writer, from)
  }

  /** Begins anew, after all was drained and the writer flushed. */
  def clear(): Unit = {
    coded.clear()
    met = 0L
    nextLook = firstLook
    knownCodes = 0
    knownPairs = 0
    tooLong = 0L
    isFull = false
    askedBytes = 0L
    if (isLeaving) left()
  }

  /** Goes on in another way, after all was drained. */
  def left(): Unit = {
    isLeaving = false
    isCoded = false
    values = if (isNumber) numbers else rows
    isFull = false
  }

  /** Takes a number, the eight bytes of its field; whether it `isFull` now. */
  def addNumber(group: Int, number: Long): Boolean = {
    if (isCoded) addCoded(coded.add(group, number))
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
    isFull
  }

  private def addBytes(group: Int, base: AnyRef, offset: Long, length: Int): Unit = {
    val isTooLong = isCoded && length > longestCoded
    if (isCoded && !isTooLong) addCoded(coded.add(group, base, offset, length))
    else {
      val hash = Hashes.ofBytes(base, offset, length)
      if (isTooLong) {
        tooLong += length
        if (tooLong > mostTooLong) leaveCodes()
      }
      if (passes || isTooLong) {
        passedOn += 1
        writer.bytes(column, group, base, offset, length, hash)
      } else {
        val isNew = rows.add(group, base, offset, length, hash)
        if (rows.growth > 0L || hasUnasked) isFull = true
        judge(1, if (isNew) 1 else 0)
      }
    }
  }

  private def addBatch(): Unit = if (batch.size > 0) {
    val (some, before) = (batch.size, numbers.size)
    batch.add((_, _, _) => ())
    if (numbers.growth > 0L) isFull = true
    judge(some, numbers.size - before)
  }

  private def addCoded(isNew: Boolean): Unit = {
    if (isNew && coded.growth > 0L) isFull = true
    met += 1
    judge(1, if (isNew) 1 else 0)
    if (met >= nextLook && isCoded) look()
  }

  /**
   * Whether values that are new are at home in several groups: at first all are new, so the first look
   * only counts, and the next ones judge what came since.
   */
  private def look(): Unit = {
    val (newCodes, newPairs) = (coded.codes - knownCodes, coded.size - knownPairs)
    knownCodes = coded.codes
    knownPairs = coded.size
    nextLook *= 2
    // A few new values among many old ones say nothing against the codes.
    val isMuch = newCodes.toLong * rarely > coded.codes
    if (met > firstLook && isMuch && newCodes.toLong * fewestGroups > newPairs) leaveCodes()
  }

  /** Counts some values of the sample, and how many of them were new. */
  private def judge(some: Int, newOnes: Int): Unit = if (!isJudged) {
    seen += some
    if (seen * 2 > sampleValues) {
      judged += some
      this.newOnes += newOnes
    }
    if (seen >= sampleValues) {
      isJudged = true
      if (this.newOnes > maxNewShare * judged) passOn()
    }
  }

  // What it has met it may meet again, and send on twice: a set does not mind, but a sample would.
  private def leaveCodes(): Unit = {
    leave()
    seen = 0L
    newOnes = 0L
    judged = 0L
  }

  private def passOn(): Unit = {
    passes = true
    leave()
  }

  private def leave(): Unit = {
    isLeaving = true
    isFull = true
  }
}

private object PartialColumn {

  /** Values after which codes are counted, and judged whenever there are twice as many. */
  private val firstLook = 8192L

  /** Groups that a value has to have, in the mean. */
  private val fewestGroups = 4L

  /** One in so many is few. */
  private val rarely = 8L

  /** Bytes of a value that has a code: a block has to hold it once for all of its groups. */
  private val longestCoded = 256

  /** Bytes of longer values that are sent on as they come before they cost the others their codes. */
  private val mostTooLong = 1L << 20
}
