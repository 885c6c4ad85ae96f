package io.firesteel.skew

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.Percentile
import org.apache.spark.sql.types.DoubleType

/**
 * The number between two others, computed as the running Spark's `percentile` computes it.
 *
 * Spark 4.3 changed the arithmetic, and with it the last digits. A patch release may do so too, so
 * Spark's own function is asked, once in a JVM, and not its version.
 */
private[skew] object Interpolation {

  /** The number at `position`, which is between the whole numbers of `lower` and `lower + 1`. */
  def apply(position: Double, lower: Long, low: Double, high: Double): Double =
    if (byDifference) low + (position - lower) * (high - low)
    else (lower + 1 - position) * low + (position - lower) * high

  /** The difference of these two numbers is infinite, but half of each makes zero. */
  private lazy val byDifference: Boolean = {
    val percentile = new Percentile(BoundReference(0, DoubleType, nullable = false), Literal(0.5))
    val buffer = percentile.createAggregationBuffer()
    Seq(-Double.MaxValue, Double.MaxValue)
      .foreach(number => percentile.update(buffer, InternalRow(number)))
    percentile.eval(buffer) != 0.0
  }
}
