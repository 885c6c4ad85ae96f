package io.firesteel.skew

import io.firesteel.testkit.AwkwardRows

/** Exact percentiles from sorted numbers against Spark's. */
class SortPercentilesSuite extends SkewSuite {

  override def beforeAll(): Unit = {
    super.beforeAll()
    AwkwardRows.createView(spark, "rows", 3000)
  }

  // For zeros of different signs Spark may return either.
  private def calls(column: String): Seq[String] = Seq(
    s"percentile($column, 0.5)",
    s"percentile($column, array(0.0, 0.25, 0.333, 0.9991, 1.0))",
    s"median($column)",
    s"percentile_cont(0.3) WITHIN GROUP (ORDER BY $column)",
    s"percentile_cont(0.3) WITHIN GROUP (ORDER BY $column DESC)",
    s"percentile($column, 0.7) FILTER (WHERE l > 0)"
  ).map {
    case several if several.contains("array") => s"transform($several, x -> x + 0.0D)"
    case one => s"$one + 0.0D"
  }

  private val numbers = Seq("by", "sh", "i", "l", "f", "d", "small")

  numbers.foreach { column =>
    test(s"the answers are Spark's: $column") {
      val list = calls(column).zipWithIndex.map { case (call, i) => s"$call AS c$i" }.mkString(", ")
      for {
        by <- Seq("GROUP BY s", "", "GROUP BY GROUPING SETS ((s), (bo), ())")
        (adaptive, threshold) <- Seq((true, 128), (false, 1)) // 1: sort after one group
      } withConf(
        "spark.sql.adaptive.enabled" -> adaptive,
        "spark.sql.objectHashAggregate.sortBased.fallbackThreshold" -> threshold) {
        val sql = s"SELECT $list FROM rows $by"
        assertSameAnswer(sql)
        assert(fired(sql) == Seq("SortPercentiles"), sql)
      }
    }
  }

  test("random numbers in any number of rows and tasks") {
    val random = new scala.util.Random(5)
    (1 to 15).foreach { round =>
      val (rows, tasks) = (math.pow(10, random.nextDouble() * 4).toInt - 1, random.nextInt(4) + 1)
      val (groups, range) = (random.nextInt(20) + 1, random.nextInt(2000) + 1)
      val (p, q) = (random.nextDouble(), random.nextDouble())
      val sql =
        s"""SELECT g, percentile(v, $p), percentile(w, array($p, $q, 0.5)), median(x), count(*)
        FROM (SELECT id % $groups AS g, pmod(xxhash64(id, $round), $range) AS v,
          CAST(xxhash64(id, 1, $round) AS DOUBLE) / 3 AS w,
          IF(id % 7 = 0, NULL, CAST(xxhash64(id, 2, $round) % 1000 AS DECIMAL(10, 3))) AS x
          FROM range(0, $rows, 1, $tasks)) GROUP BY g"""
      assertSameAnswer(sql)
    }
  }

  test("stays Spark's") {
    Seq(
      "percentile(DISTINCT i, 0.5)",
      "percentile(i, 0.5, 2)",
      "percentile(i, 0.5, by)",
      "percentile_disc(0.5) WITHIN GROUP (ORDER BY i)",
      "percentile(wide, 0.5)",
      "median(ym)",
      "percentile(dt, array(0.1, 0.5))",
      "approx_percentile(i, 0.5)"
    ).foreach { call =>
      val sql = s"SELECT s, $call AS x FROM rows WHERE by > 0 GROUP BY s"
      assert(!fired(sql).contains("SortPercentiles"), sql)
      assertSameAnswer(sql)
    }
    withConf(SkewConf.SORT_PERCENTILES.key -> false) {
      assert(declines("SELECT median(i) FROM rows") == Set("SKEW.SWITCHED_OFF"))
    }
  }
}
