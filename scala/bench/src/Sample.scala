package io.firesteel.bench

/** Several measurements of one value. The median counts, the extremes show its uncertainty. */
final case class Sample(values: Seq[Double]) {
  require(values.nonEmpty, "a sample needs at least one value")

  private val sorted = values.sorted

  def median: Double = {
    val middle = sorted.size / 2
    if (sorted.size % 2 == 1) sorted(middle) else (sorted(middle - 1) + sorted(middle)) / 2
  }

  def min: Double = sorted.head

  def max: Double = sorted.last

  /**
   * The interval that contains the median of infinitely many measurements at least 19 times out of
   * 20; with fewer than 6 measurements, their whole range. It uses order only: half of them are
   * below it.
   */
  def medianInterval: (Double, Double) = {
    val n = sorted.size
    // The chance of exactly k of n below the median, from 0 on.
    val chances = (0 until n).scanLeft(math.pow(0.5, n.toDouble))((p, k) => p * (n - k) / (k + 1))
    val below = chances.scanLeft(0.0)(_ + _).tail.takeWhile(_ <= 0.025).size
    val skipped = math.max(below - 1, 0)
    (sorted(skipped), sorted(n - 1 - skipped))
  }
}

object Sample {

  /** The ratios of values measured in pairs: a slow moment slows both. */
  def ofRatios(over: Sample, under: Sample): Sample = {
    require(over.values.size == under.values.size, "ratios need pairs")
    Sample(over.values.zip(under.values).map { case (a, b) => a / b })
  }
}
