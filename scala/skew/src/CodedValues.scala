package io.firesteel.skew

import io.firesteel.core.rows.KeyIndex
import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The distinct pairs of a group and a value, where each value has a *code* 0, 1, 2, … in all groups.
 *
 * A group has a bit for each code. So a pair is met, as a rule, in the processor's cache, and a value is
 * kept, compared and sent on once for all of its groups. It is for values that several groups have
 * in common.
 *
 * Memory: of each value its [[KeyIndex]], and a bit for each code in each group, where both numbers are
 * rounded up to a power of two, groups to 64 and codes to 64 at least.
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

  private[this] var form: Form = _ // while pairs are drained

  override def size: Int = count

  /** Values that have a code. */
  def codes: Int = values.size

  override def bytes: Long = values.bytes + words.length * 8L

  /** There is always room for one group and one value more. */
  override def growth: Long =
    if (values.size < wordsOfRow * 64 && groups.size < rows) 0L else moreWords * 8L

  /** Whether it will take less room than a table of the pairs would when it has grown. */
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

  /** A place is a group. */
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

  /** Forgets the values, of which a writer has codes until it is flushed. */
  def clear(): Unit = values.clear()

  private def chunk(code: Int): Long = DistinctNumbers.chunkOf(values.key(code).getLong(0))

  /** Numbers next to each other are shorter by chunks than by codes. */
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

  /** How pairs are handed to a writer. */
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

  /** The numbers of a group by chunks, see [[DistinctNumbers]]. */
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

  /** Words that are well spent whatever the number of pairs: a mebibyte. */
  private val fewWords = 1L << 17

  /** Words for a pair, of which a table of pairs takes about as many. */
  private val wordsOfPair = 4L

  /** Words that are drained at a time. */
  private val someWords = 1 << 10
}
