package io.firesteel.skew

import io.firesteel.core.rows.KeyIndex
import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The distinct pairs of a group and a value. Each value has a *code* 0, 1, 2, …, the same in all
 * groups.
 *
 * A group has a bit for each code. A known pair is usually found in the processor's cache. A value
 * is stored, compared and sent once for all of its groups. This pays if several groups share
 * values.
 *
 * Memory: the [[KeyIndex]] of the values, and a bit for each code in each group. Both numbers are
 * rounded up to a power of two, at least 64.
 */
private[skew] final class CodedValues(isNumber: Boolean, fields: Int, groups: Groups)
  extends DistinctValues {
  import CodedValues._

  private[this] val values = new KeyIndex(isNumber, fields)
  private[this] val row = new UnsafeRow(fields)

  // The words of one group are adjacent.
  private[this] var rows = firstRows
  private[this] var wordsOfRow = 1
  private[this] var words = new Array[Long](firstRows)
  private[this] var count = 0

  private[this] var form: Form = _ // set while pairs are drained

  override def size: Int = count

  /** The number of values with a code. */
  def codes: Int = values.size

  override def bytes: Long = values.bytes + words.length * 8L

  /** 0 while there is room for one more group and one more value. */
  override def growth: Long =
    if (values.size < wordsOfRow * 64 && groups.size < rows) 0L else moreWords * 8L

  /** Whether it will take less memory, once grown, than a table of the pairs. */
  def growthPays: Boolean = moreWords <= fewWords + count * wordsOfPair

  private def moreWords: Long = rowsWanted.toLong * wordsWanted

  private def rowsWanted: Int = if (groups.size < rows) rows else rows * 2

  private def wordsWanted: Int = if (values.size < wordsOfRow * 64) wordsOfRow else wordsOfRow * 2

  override def grow(): Unit = {
    val (newRows, newWords) = (rowsWanted, wordsWanted)
    if (newWords == wordsOfRow) words = Arrays.copyOf(words, newRows * newWords)
    else {
      val grown = new Array[Long](newRows * newWords)
      var group = 0
      while (group < rows) {
        System.arraycopy(words, group * wordsOfRow, grown, group * newWords, wordsOfRow)
        group += 1
      }
      words = grown
    }
    rows = newRows
    wordsOfRow = newWords
  }

  /** Adds a number and returns whether its pair is new. */
  def add(group: Int, number: Long): Boolean = addCode(group, values.of(number))

  /** Adds a value as the bytes of a row and returns whether its pair is new. */
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

  /** The position is a group. */
  override def drain(column: Int, writer: BlockWriter, from: Int): Int = {
    if (from == 0) form = newForm(column, writer)
    val until = math.min(from + math.max(someWords / wordsOfRow, 1), groups.size)
    var group = from
    while (group < until) {
      var word = 0
      while (word < wordsOfRow) {
        var left = words(group * wordsOfRow + word)
        while (left != 0L) {
          form.write(group, word * 64 + java.lang.Long.numberOfTrailingZeros(left))
          left &= left - 1
        }
        word += 1
      }
      form.end(group)
      group += 1
    }
    if (group < groups.size) until
    else {
      form = null
      rows = firstRows
      wordsOfRow = 1
      words = new Array[Long](firstRows)
      count = 0
      -1
    }
  }

  /** Removes the values. Only after the writer is flushed, which still has codes of them. */
  def clear(): Unit = values.clear()

  private def chunk(code: Int): Long = DistinctNumbers.chunkOf(values.key(code).getLong(0))

  /** Dense numbers are shorter as chunks than as codes. */
  private def newForm(column: Int, writer: BlockWriter): Form = {
    val chunks = if (isNumber) sortedChunks else Array.emptyLongArray
    if (isNumber && chunks.length * 2L <= values.size) new Chunks(column, writer, chunks)
    else new Codes(column, writer)
  }

  private def sortedChunks: Array[Long] = {
    val all = Array.tabulate(values.size)(chunk)
    Arrays.sort(all)
    all.indices.iterator.filter(i => i == 0 || all(i) != all(i - 1)).map(all(_)).toArray
  }

  /** How pairs are written. */
  private trait Form {
    def write(group: Int, code: Int): Unit
    def end(group: Int): Unit
  }

  private final class Codes(column: Int, writer: BlockWriter) extends Form {
    private[this] val hashes = Array.tabulate(values.size) { code =>
      if (isNumber) Hashes.ofNumber(chunk(code))
      else {
        val value = values.key(code)
        Hashes.ofBytes(value.getBaseObject, value.getBaseOffset, value.getSizeInBytes)
      }
    }

    override def write(group: Int, code: Int): Unit =
      writer.code(column, group, values, code, hashes(code))

    override def end(group: Int): Unit = ()
  }

  /** Writes the numbers of a group as chunks ([[DistinctNumbers]]). */
  private final class Chunks(column: Int, writer: BlockWriter, chunks: Array[Long]) extends Form {
    private[this] val places =
      Array.tabulate(values.size)(code => Arrays.binarySearch(chunks, chunk(code)))
    private[this] val bits =
      Array.tabulate(values.size)(code => DistinctNumbers.bitOf(values.key(code).getLong(0)))
    private[this] val masks = new Array[Int](chunks.length)
    private[this] val touched = new Array[Int](chunks.length)
    private[this] var size = 0

    override def write(group: Int, code: Int): Unit = {
      val place = places(code)
      if (masks(place) == 0) {
        touched(size) = place
        size += 1
      }
      masks(place) |= bits(code)
    }

    override def end(group: Int): Unit = {
      var i = 0
      while (i < size) {
        writer.numbers(column, group, chunks(touched(i)), masks(touched(i)))
        masks(touched(i)) = 0
        i += 1
      }
      size = 0
    }
  }
}

private object CodedValues {
  private val firstRows = 64

  /** The size that is always allowed, in words: one mebibyte. */
  private val fewWords = 1L << 17

  /** Words that a table of pairs takes for a pair, about. */
  private val wordsOfPair = 4L

  /** Words drained at a time. */
  private val someWords = 1 << 10
}
