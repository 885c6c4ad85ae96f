package io.firesteel.changelog.flink

import org.apache.spark.sql.{Encoder, Encoders, SparkSession}
import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.sql.functions.udaf

/** The functions of users that the cases call. */
object FlinkFunctions {

  final case class Point(x: Option[Int], y: Option[Long])

  final case class Counts(others: Long, nulls: Long)

  def register(spark: SparkSession): Unit = {
    spark.udf.register("is_even", (i: Int) => i % 2 == 0)
    spark.udf.register("point", (x: Int) => Point(Some(x), None))
    spark.udf.register("nulls_and_others", udaf(NullsAndOthers))
    spark.udf.register("sum_all", udaf(SumAll))
    val _ = spark.udf.register("farthest", udaf(Farthest))
  }

  private object NullsAndOthers extends Aggregator[String, Counts, String] {
    override def zero: Counts = Counts(0, 0)
    override def reduce(counts: Counts, text: String): Counts =
      if (text == null) counts.copy(nulls = counts.nulls + 1)
      else counts.copy(others = counts.others + 1)
    override def merge(one: Counts, other: Counts): Counts =
      Counts(one.others + other.others, one.nulls + other.nulls)
    override def finish(counts: Counts): String = s"${counts.others} and ${counts.nulls}"
    override def bufferEncoder: Encoder[Counts] = Encoders.product
    override def outputEncoder: Encoder[String] = Encoders.STRING
  }

  private object SumAll extends Aggregator[Seq[Option[Long]], Long, Long] {
    override def zero: Long = 0
    override def reduce(sum: Long, row: Seq[Option[Long]]): Long = sum + row.flatten.sum
    override def merge(one: Long, other: Long): Long = one + other
    override def finish(sum: Long): Long = sum
    override def bufferEncoder: Encoder[Long] = Encoders.scalaLong
    override def outputEncoder: Encoder[Long] = Encoders.scalaLong
  }

  private object Farthest extends Aggregator[Point, Point, Point] {
    override def zero: Point = Point(None, None)
    override def reduce(one: Point, other: Point): Point = Seq(one, other).maxBy(p => (p.y, p.x))
    override def merge(one: Point, other: Point): Point = reduce(one, other)
    override def finish(point: Point): Point = point
    override def bufferEncoder: Encoder[Point] = Encoders.product
    override def outputEncoder: Encoder[Point] = Encoders.product
  }
}
