package io.firesteel.skew

import java.util.Arrays

/** Judges by a sample whether the same numbers are repeated often. */
private[skew] object Repeats {

  private val wholeUpTo = 4096
  private val sampleSize = 2048

  /**
   * Whether each number occurs about four times or more.
   *
   * The sample is taken at equal distances. A sample of m numbers of d different ones has about m² /
   * 2d equal pairs, so a few repeated numbers in it show that d is small.
   */
  def areMany(numbers: Array[Long], from: Int, until: Int): Boolean = {
    val size = until - from
    val isWhole = size <= wholeUpTo
    val sample =
      if (isWhole) Arrays.copyOfRange(numbers, from, until)
      else Array.tabulate(sampleSize)(i => numbers(from + (i.toLong * size / sampleSize).toInt))
    Arrays.sort(sample)
    var repeated = 0
    var i = 1
    while (i < sample.length) {
      if (sample(i) == sample(i - 1)) repeated += 1
      i += 1
    }
    if (isWhole) repeated >= size - size / 4 && size >= 4
    else repeated >= 4 && size.toLong * repeated >= 2L * sampleSize * sampleSize
  }
}
