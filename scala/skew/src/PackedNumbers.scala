package io.firesteel.skew

import java.util.Arrays

/**
 * Numbers as bytes. Few repetitions: each number's difference to the smallest, in as many bytes as
 * the largest difference needs. Many repetitions: different numbers and their counts.
 */
private[skew] object PackedNumbers {

  /** The first byte if counts follow; otherwise it is the bytes of a difference. */
  val counted: Long = 9L

  private val fewestCounted = 16
  private val fewestRepeats = 4

  /**
   * Appends some of the numbers, which it may reorder.
   *
   * @param mayRepeat whether to look for repetitions; they are also found if the numbers lie close
   *   together
   */
  def put(
      numbers: Array[Long],
      from: Int,
      until: Int,
      mayRepeat: Boolean,
      out: BlockBytes): Unit = {
    val size = until - from
    var least = Long.MaxValue
    var most = Long.MinValue
    var i = from
    while (i < until) {
      least = math.min(least, numbers(i))
      most = math.max(most, numbers(i))
      i += 1
    }
    val range = most - least // may be beyond the largest number, and is then negative
    val counts =
      if (size < fewestCounted || range == 0L) null
      else if (range > 0L && range < size) ofRange(numbers, from, until, least, range.toInt + 1)
      else if (mayRepeat) ofSorted(numbers, from, until)
      else null
    if (counts == null) {
      val width = (64 - java.lang.Long.numberOfLeadingZeros(range) + 7) / 8
      out.putNumber(width.toLong)
      out.putNumber(size.toLong)
      out.putSigned(least)
      out.putDifferences(numbers, from, until, least, width)
    } else {
      out.putNumber(counted)
      counts.put(out)
    }
  }

  /** Counts in an array, for each number of a small range. Null if repetitions are few. */
  private def ofRange(
      numbers: Array[Long],
      from: Int,
      until: Int,
      least: Long,
      range: Int): NumberRun = {
    val counts = new Array[Int](range)
    var different = 0
    var i = from
    while (i < until) {
      val at = (numbers(i) - least).toInt
      if (counts(at) == 0) different += 1
      counts(at) += 1
      i += 1
    }
    if (different.toLong * fewestRepeats > until - from) null
    else {
      val (values, times) = (new Array[Long](different), new Array[Long](different))
      var n = 0
      i = 0
      while (i < range) {
        if (counts(i) > 0) {
          values(n) = least + i
          times(n) = counts(i).toLong
          n += 1
        }
        i += 1
      }
      new NumberRun(values, times, different)
    }
  }

  private def ofSorted(numbers: Array[Long], from: Int, until: Int): NumberRun = {
    Arrays.sort(numbers, from, until)
    val run = NumberRun.ofSorted(numbers, from, until)
    if (run.size.toLong * fewestRepeats > until - from) null else run
  }
}
