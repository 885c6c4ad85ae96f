package io.firesteel.bench

/** Several measurements of one thing: the median counts, the extremes say how far to trust it. */
final case class Sample(values: Seq[Double]) {
  require(values.nonEmpty, "a sample needs at least one value")

  private val sorted = values.sorted

  def median: Double = {
    val middle = sorted.size / 2
    if (sorted.size % 2 == 1) sorted(middle) else (sorted(middle - 1) + sorted(middle)) / 2
  }

  def min: Double = sorted.head

  def max: Double = sorted.last
}

object Sample {

  /** The ratios of values measured side by side, pair by pair: a slow moment slows both. */
  def ofRatios(over: Sample, under: Sample): Sample = {
    require(over.values.size == under.values.size, "ratios need pairs")
    Sample(over.values.zip(under.values).map { case (a, b) => a / b })
  }
}
