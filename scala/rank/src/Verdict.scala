package io.firesteel.rank

/**
 * Judges, from time to time, whether heaps drop enough rows to be worth while.
 *
 * Looks at the end of a sample, and again each time four times as many rows came.
 *
 * @param sampleRows rows before the first look
 * @param maxKept share of the rows, from 0 to 1, that may be kept
 */
private[rank] final class Verdict(sampleRows: Int, maxKept: Double) {

  private[this] var nextLook = sampleRows.toLong

  /** Rows judged since the beginning or the last `restart`. */
  var seen: Long = 0L

  /** Whether it is time to look and too much is kept. */
  def isTooMuch(kept: Long): Boolean =
    if (seen < nextLook) false
    else {
      nextLook = seen * 4
      keepsTooMuch(kept)
    }

  /** Whether too much is kept of what has been seen. */
  def keepsTooMuch(kept: Long): Boolean = kept > maxKept * seen

  /** Begins anew, with empty heaps. */
  def restart(): Unit = {
    seen = 0L
    nextLook = sampleRows.toLong
  }
}
