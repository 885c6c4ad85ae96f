package io.firesteel.json

/**
 * Leaves documents to Spark without a look at them, while most of the last ones were handed over.
 *
 * After a sample in which three of four were handed over, the next documents go to Spark, more of
 * them each time that a new sample says the same. So a column that is never read here costs less
 * than one in thirty looks.
 *
 * @param sample documents after which it decides
 */
final private[json] class Backoff(sample: Int = 64) {
  import Backoff._

  private[this] var looked = 0
  private[this] var failed = 0
  private[this] var left = 0
  private[this] var pause = FirstPause

  /** Whether to look at the next document. */
  def looks(): Boolean =
    if (left == 0) true
    else {
      left -= 1
      false
    }

  /** Tells how a look ended. */
  def learn(exact: Boolean): Unit = {
    looked += 1
    if (!exact) failed += 1
    if (looked == sample) {
      if (failed * 4 >= sample * 3) {
        left = pause
        pause = math.min(pause * 2, LastPause)
      } else pause = FirstPause
      looked = 0
      failed = 0
    }
  }
}

private[json] object Backoff {
  private val FirstPause = 512
  private val LastPause = 1 << 16
}
