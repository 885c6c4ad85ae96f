package io.firesteel.shuffle

/**
 * What a sample says of how many different keys the rows of a task have.
 *
 * @param distinct different keys by rows, from 0 to 1
 * @param largestShare share of the rows that the most frequent key has, from 0 to 1; 0 if no key has many
 * @param source where this is from, for the author of the query
 */
private[shuffle] final case class SampledRate(
    distinct: Double,
    largestShare: Double,
    source: String)

private[shuffle] object SampledRate {

  /**
   * @param keys of the rows of the sample, as hashes
   * @param rowsOfTask how many rows a task has, to which the sample says how many keys belong if all
   *   are equally frequent
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

  /** How many different ones are expected in so many draws, with putting back, of so many keys. */
  private def expected(keys: Double, draws: Double): Double = -keys * math.expm1(-draws / keys)

  /** Of how many keys so many draws are expected to show so many, found by halving. */
  private def keysOfAll(draws: Int, different: Int): Double = {
    val most = draws.toDouble * draws // one pair of equal ones, or none, in half of the samples
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
