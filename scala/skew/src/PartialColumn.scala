package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A column below the exchange: which values the task has met in which group.
 *
 * It begins with codes for the values. If few groups share a value, or many values are long, it
 * changes to a table of pairs. If almost all values are new, it sends them without looking for
 * duplicates. Values that are too long for a code are sent in that way, too.
 *
 * @param fields number of fields of a value that is not a number
 * @param sampleValues values after which the column is judged
 * @param maxNewShare share of new values in the second half of the sample above which the column
 *   stops looking for duplicates
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
  private[this] var met = 0L // values since the codes were started
  private[this] var nextLook = firstLook
  private[this] var knownCodes = 0 // at the last look
  private[this] var knownPairs = 0
  private[this] var tooLong = 0L // bytes of values too long for a code, since then

  private[this] var seen = 0L // values of the sample
  private[this] var newOnes = 0L
  private[this] var judged = 0L
  private[this] var isJudged = false
  private[this] var passes = false

  /** Values sent without looking for duplicates. */
  var passedOn: Long = 0L

  /**
   * Whether the column changes its form before the next row. Until then the caller must drain it
   * bit by bit, and then call `left`.
   */
  var isLeaving: Boolean = false

  /**
   * Whether the last added value has filled the table, or has changed the column's form. A new
   * group may also fill it, which this does not say.
   */
  private[this] var isFull: Boolean = false

  /** Bytes of pages that were reserved. Long values fill many pages before their table grows. */
  private[this] var askedBytes: Long = 0L

  /** Bytes held. After the codes were left they still count: the writer reads their values. */
  def bytes: Long = if (isCoded) coded.bytes else coded.bytes + values.bytes

  /** Makes room for another row if necessary; false if Spark refuses the memory. */
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

  /**
   * Adds the value of a row's field `at`, which is not null. Returns whether the column `isFull`.
   */
  def add(group: Int, row: UnsafeRow, at: Int): Boolean =
    if (isNumber) addNumber(group, row.getLong(at))
    else {
      val place = row.getLong(at) // a field of variable length: offset and size
      addBytes(group, row.getBaseObject, row.getBaseOffset + (place >>> 32), place.toInt)
      isFull
    }

  /** Writes the values it holds, as [[DistinctValues.drain]] does. */
  def drain(from: Int): Int = {
    if (isNumber && from == 0) addBatch()
    values.drain(column, writer, from)
  }

  /** Starts again, after all values were drained and the writer was flushed. */
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

  /** Continues in the other form, after all values were drained. */
  def left(): Unit = {
    isLeaving = false
    isCoded = false
    values = if (isNumber) numbers else rows
    isFull = false
  }

  /** Adds a number, the eight bytes of its field. Returns whether the column `isFull`. */
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
   * Decides whether several groups share the new values. At first all values are new: the first
   * look only counts, and later ones judge the values since.
   */
  private def look(): Unit = {
    val (newCodes, newPairs) = (coded.codes - knownCodes, coded.size - knownPairs)
    knownCodes = coded.codes
    knownPairs = coded.size
    nextLook *= 2
    // A few new values among many old ones are no reason to leave the codes.
    val isMuch = newCodes.toLong * rarely > coded.codes
    if (met > firstLook && isMuch && newCodes.toLong * fewestGroups > newPairs) leaveCodes()
  }

  /** Counts values of the sample and the new ones among them. */
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

  // A value met before may be sent twice, which is harmless for a set, but would distort a sample.
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

  /** Values before the first look at the codes. Each next look is after twice as many. */
  private val firstLook = 8192L

  /** Groups that a value must have, on average. */
  private val fewestGroups = 4L

  /** One in so many counts as few. */
  private val rarely = 8L

  /** Longest value with a code, in bytes: a block must hold it once for all of its groups. */
  private val longestCoded = 256

  /** Bytes of longer values after which the column gives up its codes. */
  private val mostTooLong = 1L << 20
}
