package io.firesteel.shuffle

/**
 * How many of a task's rows so far have different keys, and whether one key has many rows.
 *
 * Keys are compared by their hashes. All rows of some keys are counted: keys whose hash ends in a
 * number of zero bits. That number grows by one whenever `limit` keys are counted. So some thousand
 * keys judge any number of rows. Gibbons, "Distinct Sampling", VLDB 2001. For the largest key, rows
 * are sampled at random: every n-th row might always have the same key in periodic data.
 */
private[shuffle] final class KeyRate {
  import KeyRate._

  private[this] var hashes = new Array[Long](slots)
  private[this] var counts = new Array[Int](slots) // 0: the slot is free
  private[this] var mask = 0L
  private[this] var keys = 0
  private[this] val some = new SampledKeys(someRows)
  private[this] var chance = 1L

  def add(hash: Long): Unit = {
    if (isLookedAt() && some.wantsNext()) some.add(hash)
    if ((hash & mask) == 0) {
      count(hash, 1)
      if (keys > limit) halve()
    }
  }

  /** Different keys divided by rows, from 0 to 1. */
  def distinct: Double = if (keys == 0) 1.0 else keys.toDouble / counts.iterator.map(_.toLong).sum

  /** Share of the rows that the most frequent key has, from 0 to 1. */
  def largestShare: Double = KeyRate.largestShare(some.kept)

  /** One row of eight, at random. Marsaglia, "Xorshift RNGs", 2003. */
  private def isLookedAt(): Boolean = {
    chance ^= chance << 13
    chance ^= chance >>> 7
    chance ^= chance << 17
    (chance & 7) == 0
  }

  private def count(hash: Long, rows: Int): Unit = {
    // The lower bits are all zero.
    var at = ((hash * 0x9e3779b97f4a7c15L) >>> 48).toInt & (slots - 1)
    while (counts(at) != 0 && hashes(at) != hash) at = (at + 1) & (slots - 1)
    if (counts(at) == 0) keys += 1
    hashes(at) = hash
    counts(at) += rows
  }

  private def halve(): Unit = {
    mask = mask * 2 + 1
    val (all, of) = (hashes, counts)
    hashes = new Array[Long](slots)
    counts = new Array[Int](slots)
    keys = 0
    all.indices.foreach(i => if (of(i) != 0 && (all(i) & mask) == 0) count(all(i), of(i)))
  }
}

private[shuffle] object KeyRate {
  private val limit = 4096
  private val slots = 2 * limit * 2
  private val someRows = 8192

  /** Fewer rows may have the same key by chance. */
  private val fewest = 16

  /** Share of the rows that the most frequent key has, from 0 to 1; 0 if no key has many. */
  def largestShare(keys: Array[Long]): Double = {
    val sorted = keys.sorted
    var (most, same) = (0, 0)
    sorted.indices.foreach { i =>
      same = if (i > 0 && sorted(i) == sorted(i - 1)) same + 1 else 1
      most = math.max(most, same)
    }
    if (most < fewest) 0.0 else most.toDouble / keys.length
  }
}
