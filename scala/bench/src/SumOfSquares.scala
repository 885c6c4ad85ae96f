package io.firesteel.bench

import org.apache.spark.sql.{Encoder, Encoders, SparkSession}
import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.sql.functions.udaf

/** A user-defined aggregate function: the sum of squares of whole numbers. */
object SumOfSquares extends Aggregator[Long, Long, Long] {

  val function: String = "bench_sum_of_squares"

  override def zero: Long = 0L
  override def reduce(sum: Long, value: Long): Long = sum + value * value
  override def merge(one: Long, other: Long): Long = one + other
  override def finish(sum: Long): Long = sum
  override def bufferEncoder: Encoder[Long] = Encoders.scalaLong
  override def outputEncoder: Encoder[Long] = Encoders.scalaLong

  def register(spark: SparkSession): Unit = {
    val _ = spark.udf.register(function, udaf(this, Encoders.scalaLong))
  }
}
