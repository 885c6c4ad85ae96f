package io.firesteel.testkit

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types.StructType
import org.scalacheck.Gen

/** Random small tables with few distinct values, so ties, duplicates and nulls are frequent. */
object RandomTables {

  /** Names and SQL types of the columns of every random table; `id` is unique. */
  val schema: StructType =
    StructType.fromDDL("k1 INT, k2 STRING, k3 DOUBLE, v1 BIGINT, v2 DOUBLE, v3 STRING, id BIGINT")

  /** Rows of a table with up to `maxRows` rows. Empty tables and one giant key occur. */
  def rows(maxRows: Int): Gen[Seq[Row]] =
    for {
      count <- Gen.frequency(1 -> Gen.const(0), 9 -> Gen.choose(1, maxRows))
      giant <- Gen.frequency(4 -> Gen.const(false), 1 -> Gen.const(true))
      rows <- Gen.listOfN(count, row(giant))
    } yield rows.zipWithIndex.map { case (r, at) => Row.fromSeq(r :+ at.toLong) }

  def createView(spark: SparkSession, name: String, rows: Seq[Row]): Unit = {
    val data = spark.sparkContext.parallelize(rows, 3)
    spark.createDataFrame(data, schema).createOrReplaceTempView(name)
  }

  private def row(giant: Boolean): Gen[Seq[Any]] =
    for {
      k1 <- if (giant) Gen.const(1) else orNull(Gen.choose(0, 4).map(Int.box))
      k2 <- orNull(Gen.oneOf("", "a", "A", "longer than eight bytes"))
      k3 <- orNull(doubles)
      v1 <- orNull(Gen.oneOf(Gen.choose(-3L, 3L), Gen.oneOf(Long.MinValue, Long.MaxValue)))
      v2 <- orNull(doubles)
      v3 <- orNull(Gen.oneOf("prefix01", "prefix01x", "prefix01y", "p", ""))
    } yield Seq(k1, k2, k3, v1, v2, v3)

  private def doubles: Gen[Double] =
    Gen.oneOf(0.0, -0.0, Double.NaN, 1.5, -1.5, Double.PositiveInfinity, Double.MinPositiveValue)

  private def orNull[T](values: Gen[T]): Gen[Any] =
    Gen.frequency[Any](1 -> Gen.const(null), 6 -> values)
}
