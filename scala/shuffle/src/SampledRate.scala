package io.firesteel.shuffle

/**
 * The share of different keys among a task's rows, estimated from a sample.
 *
 * @param distinct different keys divided by rows, from 0 to 1
 * @param largestShare share of the rows with the most frequent key, from 0 to 1; 0 if no key has
 *   many rows
 * @param source where this comes from, for `firesteel.explain`
 */
private[shuffle] final case class SampledRate(
    distinct: Double,
    largestShare: Double,
    source: String)

private[shuffle] object SampledRate {

  /**
   * @param keys hashes of the keys of the sample's rows
   * @param rowsOfTask number of rows of a task; the estimate assumes equally frequent keys
   */
  def of(keys: Array[Long], rowsOfTask: Double): SampledRate = {
    val different = keys.distinct.length
    val all = keysOfAll(keys.length, different)
    val rows = math.max(rowsOfTask, keys.length.toDouble)
    SampledRate(
      math.min(expected(all, rows) / rows, 1.0),
      KeyRate.largestShare(keys),
      s"a sample with $different different keys in ${keys.length} rows"
    )
  }

  /** The expected number of different keys in `draws` draws with replacement. */
  private def expected(keys: Double, draws: Double): Double = -keys * math.expm1(-draws / keys)

  /**
   * The number of keys for which `draws` draws are expected to show `different` keys, by bisection.
   */
  private def keysOfAll(draws: Int, different: Int): Double = {
    val most = draws.toDouble * draws // with so many keys, half of the samples have no equal pair
    val (from, to) = (different.toDouble, most)
    Iterator
      .iterate((from, math.max(from, to))) { case (low, high) =>
        val middle = math.sqrt(low * high)
        if (expected(middle, draws.toDouble) < different) (middle, high) else (low, middle)
      }
      .drop(60)
      .next()
      ._1
  }
}
