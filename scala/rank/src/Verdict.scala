package io.firesteel.rank

/**
 * Judges, from time to time, whether heaps drop enough rows to be worth while.
 *
 * How many rows are kept says little early on: with 100,000 keys the first 100,000 rows are nearly
 * all kept, the next million hardly. What tells is how many rows still bring a new key: as long as
 * nearly every one does, no heap can drop anything. It looks at the second half of a sample, and
 * again each time twice as many rows came.
 *
 * @param sampleRows rows before the first look
 * @param maxNewKeys share of rows with a new key, from 0 to 1, above which heaps are useless
 */
private[rank] final class Verdict(sampleRows: Int, maxNewKeys: Double) {

  private[this] var nextMark = sampleRows / 2L
  private[this] var keysAtMark = 0L
  private[this] var rowsAtMark = 0L

  /** Rows judged since the beginning or the last `restart`. */
  var seen: Long = 0L

  /** Whether it is time to look and nearly every row has a key of its own. */
  def isUseless(keys: Int, kept: Long): Boolean =
    if (seen < nextMark) false
    else {
      val newKeys = (keys - keysAtMark).toDouble / (seen - rowsAtMark)
      // The first mark only begins the part that is looked at.
      val useless = rowsAtMark > 0 && newKeys > maxNewKeys && dropsTooFew(kept)
      keysAtMark = keys.toLong
      rowsAtMark = seen
      nextMark = seen * 2
      useless
    }

  /** Whether nearly all rows seen are kept. */
  def dropsTooFew(kept: Long): Boolean = kept > maxNewKeys * seen

  /** Begins anew, with empty heaps. */
  def restart(): Unit = {
    seen = 0L
    nextMark = sampleRows / 2L
    keysAtMark = 0L
    rowsAtMark = 0L
  }
}
