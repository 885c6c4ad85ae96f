package io.firesteel.rank

/**
 * Decides, at intervals, whether heaps drop enough rows to pay off.
 *
 * The share of kept rows is no early sign: with 100,000 keys nearly all of the first 100,000 rows
 * are kept, and few of the next million. The share of rows with a new key is: while nearly every
 * row has a new key, no heap can drop anything. This class measures that share over the second half
 * of a sample, and again each time the number of rows has doubled.
 *
 * @param sampleRows rows before the first decision
 * @param maxNewKeys share of rows with a new key, from 0 to 1, above which heaps are useless
 */
private[rank] final class Verdict(sampleRows: Int, maxNewKeys: Double) {

  private[this] var nextMark = sampleRows / 2L
  private[this] var keysAtMark = 0L
  private[this] var rowsAtMark = 0L

  /** Rows counted since the start or the last `restart`. */
  var seen: Long = 0L

  /** Whether a decision is due and nearly every row had a new key. */
  def isUseless(keys: Int, kept: Long): Boolean =
    if (seen < nextMark) false
    else {
      val newKeys = (keys - keysAtMark).toDouble / (seen - rowsAtMark)
      // The first mark only starts the measured half.
      val useless = rowsAtMark > 0 && newKeys > maxNewKeys && dropsTooFew(kept)
      keysAtMark = keys.toLong
      rowsAtMark = seen
      nextMark = seen * 2
      useless
    }

  /** Whether nearly all rows seen are kept. */
  def dropsTooFew(kept: Long): Boolean = kept > maxNewKeys * seen

  /** Starts again, with empty heaps. */
  def restart(): Unit = {
    seen = 0L
    nextMark = sampleRows / 2L
    keysAtMark = 0L
    rowsAtMark = 0L
  }
}
