package io.firesteel.skew

import io.firesteel.core.KeyIndex
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The distinct pairs of a group and a value, where each value has a *code* 0, 1, 2, … in all groups.
 *
 * A group has a bit for each code. So a pair is met, as a rule, in the processor's cache, and a value is
 * kept, compared and sent on once for all of its groups. It is for values that several groups have
 * in common; see `pays`.
 *
 * Memory: of each value its [[KeyIndex]], and the bits of all groups for all codes, of which up to three
 * quarters are to spare.
 */
private[skew] final class CodedValues(isNumber: Boolean, fields: Int, groups: Groups)
  extends DistinctValues {
  import CodedValues._

  private[this] val values = new KeyIndex(isNumber, fields)
  private[this] val row = new UnsafeRow(fields)

  // The words of a group lie next to each other.
  private[this] var rows = firstRows
  private[this] var wordsOfRow = 1
  private[this] var words = new Array[Long](firstRows)
  private[this] var count = 0

  override def size: Int = count

  override def bytes: Long = values.bytes + words.length * 8L

  /** There is always room for one group and one value more. */
  override def growth: Long =
    if (values.size < wordsOfRow * 64 && groups.size < rows) 0L else moreWords * 8L

  /** Whether it will take less room than a table of the pairs when it has grown. */
  def growthPays: Boolean = moreWords <= fewWords + count * wordsOfPair

  /** Whether values have several groups each, so that looking for their codes is worth it. */
  def pays: Boolean = values.size * fewestGroups <= count

  private def moreWords: Long = rowsWanted.toLong * wordsWanted

  private def rowsWanted: Int = if (groups.size < rows) rows else rows * 2

  private def wordsWanted: Int = if (values.size < wordsOfRow * 64) wordsOfRow else wordsOfRow * 2

  override def grow(): Unit = {
    val (newRows, newWords) = (rowsWanted, wordsWanted)
    val grown = new Array[Long](newRows * newWords)
    var group = 0
    while (group < rows) {
      System.arraycopy(words, group * wordsOfRow, grown, group * newWords, wordsOfRow)
      group += 1
    }
    rows = newRows
    wordsOfRow = newWords
    words = grown
  }

  /** Adds a number; true when its pair is new. */
  def add(group: Int, number: Long): Boolean = addCode(group, values.of(number))

  /** Adds some bytes, which are a row; true when their pair is new. */
  def add(group: Int, base: AnyRef, offset: Long, length: Int): Boolean = {
    row.pointTo(base, offset, length)
    addCode(group, values.of(row))
  }

  private def addCode(group: Int, code: Int): Boolean = {
    val at = group * wordsOfRow + (code >>> 6)
    val before = words(at)
    val after = before | (1L << code)
    words(at) = after
    val isNew = before != after
    if (isNew) count += 1
    isNew
  }

  override def drain(column: Int, writer: BlockWriter): Unit = {
    val hashes = Array.tabulate(values.size)(hash)
    var at = 0
    while (at < words.length) {
      val group = at / wordsOfRow
      val firstCode = at % wordsOfRow * 64
      var left = words(at)
      while (left != 0L) {
        val code = firstCode + java.lang.Long.numberOfTrailingZeros(left)
        writer.code(column, group, values, code, hashes(code))
        left &= left - 1
      }
      at += 1
    }
    rows = firstRows
    wordsOfRow = 1
    words = new Array[Long](firstRows)
    count = 0
  }

  /** Forgets the values, of which a writer has codes until it is flushed. */
  def clear(): Unit = values.clear()

  private def hash(code: Int): Long = {
    val value = values.key(code)
    if (isNumber) Hashes.ofNumber(DistinctNumbers.chunkOf(value.getLong(0)))
    else Hashes.ofBytes(value.getBaseObject, value.getBaseOffset, value.getSizeInBytes)
  }
}

private object CodedValues {
  private val firstRows = 64

  /** Groups that a value has to have, in the mean. */
  private val fewestGroups = 4L

  /** Words that are well spent whatever the number of pairs. */
  private val fewWords = 1L << 12

  /** Words for a pair: in a table it takes four to seven. */
  private val wordsOfPair = 4L
}
