package io.firesteel.skew

import io.firesteel.testkit.{AwkwardRows, SinceSpark, TestSize}
import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf

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

  test("a part that one condition protects is not computed for another") {
    val divisors = "(SELECT id % 3 AS z, id AS n, id % 7 AS a FROM range(0, 300, 1, 2))"
    Seq(
      "median(CASE WHEN z <> 0 AND n / z > 1 THEN a END) AS x, median(CASE WHEN z <> 0 AND n / z > 2 THEN a END) AS y",
      "median(a) FILTER (WHERE z <> 0 AND n / z > 1) AS x, median(n) FILTER (WHERE z <> 0 AND n / z > 2) AS y"
    ).foreach { calls =>
      assert(fired(s"SELECT $calls FROM $divisors") == Seq("SortPercentiles"))
      assertSameAnswer(s"SELECT $calls FROM $divisors")
    }
  }

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

  /** Ways of a task: rows or generated code, hold everything or a row, sort above or not. */
  private val paths: Seq[Seq[(String, Any)]] = for {
    (compiled, i) <- Seq(Nil, interpreted).zipWithIndex
    (memory, j) <- Seq(Nil, Seq(SkewConf.MAX_TASK_MEMORY.key -> 1)).zipWithIndex
  } yield compiled ++ memory ++ Seq(
    "spark.sql.adaptive.enabled" -> (i == j),
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold" -> (if (i == 0) 128 else 1))

  private def onEachPath(sql: String): Unit = {
    val theirs = sparks(spark.sql(sql).collect().toSeq)
    paths.foreach { path =>
      withConf(path: _*) {
        val query = spark.sql(sql)
        assertSameRows(query.collect().toSeq, theirs, s"$sql with $path")
        assert(executed(query).toString.contains("PartialPercentiles"), sql)
      }
    }
  }

  test("sums of floats in another order are other numbers") {
    spark.sql("CREATE TABLE sums USING parquet AS SELECT 1e16D AS a, -1e16D AS b, 1.0D AS c, " +
      "2147483647 AS i, 1 AS j, -1 AS k")
    try withConf(SQLConf.ANSI_ENABLED.key -> false) {
        Seq(
          "percentile((a + b) + c, 0.5), percentile(a + (b + c), 0.9)",
          "percentile(try_add(try_add(i, j), k), 0.5), percentile(try_add(i, try_add(j, k)), 0.9)"
        ).foreach(calls => assertSameAnswer(s"SELECT $calls FROM sums"))
      }
    finally { val _ = spark.sql("DROP TABLE sums") }
  }

  test("random numbers in any number of rows and tasks") {
    val random = new scala.util.Random(TestSize.seed(5))
    (1 to TestSize.cases(15)).foreach { round =>
      val (rows, tasks) = (math.pow(10, random.nextDouble() * 4).toInt - 1, random.nextInt(4) + 1)
      val (groups, range) = (random.nextInt(20) + 1, random.nextInt(2000) + 1)
      val (p, q) = (random.nextDouble(), random.nextDouble())
      onEachPath(
        s"""SELECT g, percentile(v, $p), percentile(w, array($p, $q, 0.5)), median(x), count(*),
          median(v), percentile_cont($q) WITHIN GROUP (ORDER BY w DESC), percentile(v, array($p)),
          percentile(y, array($p, $q)), max(s), sum(v), percentile(z, $q) FILTER (WHERE v % 2 = 0),
          percentile(z, $p) FILTER (WHERE v % 2 = 0), sum(w) FILTER (WHERE false), median(w)
        FROM (SELECT IF(id % 11 = 0, NULL, id % $groups) AS g,
          pmod(xxhash64(id, $round), $range) AS v, CAST(id AS STRING) AS s,
          CAST(xxhash64(id, 1, $round) AS DOUBLE) / 3 AS w,
          IF(id % 7 = 0, NULL, CAST(xxhash64(id, 2, $round) % 1000 AS DECIMAL(10, 3))) AS x,
          CAST(xxhash64(id, 3, $round) % 5 AS FLOAT) / 3 AS y,
          CAST(xxhash64(id, 4, $round) AS BIGINT) AS z
          FROM range(0, $rows, 1, $tasks)) GROUP BY g""")
    }
  }

  test("keys of all kinds, computed keys and no key") {
    val keys =
      Seq(
        "bo",
        "by",
        "l",
        "d",
        "f",
        "small",
        "wide",
        "s",
        "bin",
        "day",
        "st",
        "s, i",
        "try_add(i, 1)")
    (keys.map(by => s"GROUP BY $by") ++ Seq("", "WHERE i > 5", "WHERE i > 5 GROUP BY l")).foreach {
      by => onEachPath(s"SELECT median(id), percentile(id, 0.3), count(l), max(s) FROM rows $by")
    }
  }

  test("no rows and no key, below other operators") {
    val none =
      "SELECT median(i) AS mid, count(*) AS c, percentile(l, 0.2) AS p FROM rows WHERE i > 5"
    onEachPath(s"SELECT * FROM ($none) LIMIT 3")
    onEachPath(s"SELECT count(*) FROM ($none) WHERE mid IS NULL AND c = 0")
    onEachPath(s"SELECT i, c, mid FROM rows JOIN ($none) ON c < i ORDER BY i")
    onEachPath(s"$none UNION ALL $none UNION ALL SELECT 1, 2, 3")
    onEachPath(s"SELECT by, (SELECT mid FROM ($none)) FROM rows")
  }

  test("beside an aggregate that keeps an object") {
    onEachPath("""SELECT s, median(i) + 1, size(collect_list(l)), approx_percentile(i, 0.5),
      sort_array(collect_set(by)) FROM rows GROUP BY s HAVING median(i) IS NOT NULL""")
  }

  test("a key is not normalised as a number") {
    onEachPath("""SELECT k, median(k), percentile(k, 0.0) FROM VALUES (-0.0D), (1.5D),
      (CAST('NaN' AS DOUBLE)) AS t(k) GROUP BY k""")
  }

  test("different numbers that are the same as doubles") {
    Seq("BIGINT", "DECIMAL(18, 0)").foreach { t =>
      val v = "9007199254740993"
      onEachPath(s"""SELECT percentile(v, 0.3), percentile_cont(0.7) WITHIN GROUP (ORDER BY v DESC),
        median(v), percentile(v, array(0.1, 0.3, 0.45)) FROM (
          SELECT CAST($v + id * 4503599627370496 - id % 2 AS $t) AS v FROM range(0, 20, 1, 2))""")
      onEachPath(
        s"SELECT percentile(v, 0.3) FROM (SELECT CAST($v * 2 + id AS $t) AS v FROM range(2, 4, 1, 1))")
    }
  }

  test("beside functions that do not compute each argument for each row") {
    val rows = "VALUES (1, CAST(NULL AS INT), 0, 1D), (1, 5, 4, 2D), (1, 1, 0, 3D) AS t(g, x, v, y)"
    Seq("count(IF(v = 0, NULL, x), 100 / v)", "max_by(100 / v, x)", "count(100 / nullif(v, 0))")
      .foreach { call =>
        val sql = s"SELECT g, $call, percentile(y, 0.5) FROM $rows GROUP BY g"
        assertSameAnswer(sql)
        withConf(SkewConf.MAX_TASK_MEMORY.key -> 1)(assertSameAnswer(sql))
      }
  }

  test("numbers that are equal, few, near each other, or everything that a type can hold") {
    val numbers = Seq(
      "3",
      "-0.0D",
      "CAST(NULL AS DOUBLE)",
      "CAST('NaN' AS DOUBLE)",
      "id % 3",
      "id % 100 / 7D",
      "id % 30000 / 7D",
      "id - 9223372036854775807L",
      "IF(id % 2 = 0, 9223372036854775807L, id % 3 - 9223372036854775807L)",
      "IF(id % 1000 = 0, CAST('-Infinity' AS DOUBLE), CAST(xxhash64(id) AS DOUBLE))"
    )
    numbers.foreach { number =>
      onEachPath(s"""SELECT g, percentile(v, array(0, 0.1, 0.25, 0.5, 0.77, 1)) FROM
        (SELECT id % 2 AS g, $number AS v FROM range(0, 12000, 1, 3)) GROUP BY g""")
    }
  }

  test("different numbers that are the same as DOUBLE") {
    val percentages = (1 until 200).map(i => s"${i / 200.0}D").mkString("array(", ", ", ")")
    // Before 4.3 Spark weighs two decimals even if they are one DOUBLE, and rounds.
    val decimals =
      if (SinceSpark.is("4.3")) Seq("CAST(999999999999999999BD - id AS DECIMAL(18, 0))") else Nil
    val numbers = Seq(
      "9007199254740992L + id",
      "9223372036854775807L - id",
      "IF(id % 2 = 0, -0.0D, 0.0D)")
    (numbers ++ decimals).foreach { number =>
      onEachPath(s"""SELECT transform(percentile(v, $percentages), x -> x + 0.0D)
        FROM (SELECT $number AS v FROM range(0, 8, 1, 2))""")
    }
  }

  test("over a million numbers of a group in a task, several rows of a group") {
    def sql(number: String): String =
      s"""SELECT percentile(v, array(0.1, 0.5, 0.9)), median(id % 5), sum(id), count(v)
        FROM (SELECT id, $number AS v FROM range(0, 2500001, 1, 2))"""
    val all = spark.sql(sql("id * 7919 % 2500001")).collect().toSeq
    assert(all == Seq(Row(Seq(250000.0, 1250000.0, 2250000.0), 2.0, 3125001250000L, 2500001L)))
    Seq("id % 1000 / 7D", "1", "IF(id < 2400000, id % 1000, id)").foreach { number =>
      val ours = spark.sql(sql(number)).collect().toSeq
      assertSameRows(ours, stock(spark.sql(sql(number)).collect().toSeq), number)
    }
  }

  test("uses the distribution of its input, as Spark's aggregate does") {
    val sql = """SELECT k, median(v) FROM
      (SELECT /*+ REPARTITION(4, k) */ id % 10 AS k, id AS v FROM range(1000)) GROUP BY k"""
    val exchanges = "Exchange".r.findAllIn(executed(spark.sql(sql)).toString).size
    assert(exchanges == "Exchange".r.findAllIn(stock(executed(spark.sql(sql)).toString)).size)
    onEachPath(sql)
  }

  test("sessions stay Spark's, with sorted numbers") {
    val sql = """SELECT w.start, median(v) FROM (SELECT session_window(t, '10 minutes') AS w, v
      FROM (SELECT TIMESTAMP_SECONDS(id * id) AS t, id AS v FROM range(0, 100, 1, 2))) GROUP BY w"""
    val direct = """SELECT median(id) FROM (SELECT TIMESTAMP_SECONDS(id * id) AS t, id
      FROM range(0, 100, 1, 2)) GROUP BY session_window(t, '10 minutes')"""
    assertSameAnswer(sql)
    assertSameAnswer(direct)
    assert(!executed(spark.sql(direct)).toString.contains("PartialPercentiles"))
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
