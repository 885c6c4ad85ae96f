package io.firesteel.skew

import java.nio.file.Files

import io.firesteel.testkit.{AwkwardRows, RandomTables, SinceSpark}
import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf

/** Which aggregates are merged, their plans, and that answers equal Spark's. */
class MergeGlobalAggregatesSuite extends MergeSuite {

  private val rule = "MergeGlobalAggregates"

  private lazy val files = Files.createTempDirectory("firesteel-merge")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .range(0, 2000, 1, 3)
      .selectExpr(
        "id",
        "IF(id % 25 = 0, NULL, CAST(1 + id % 100 AS INT)) AS quantity",
        "CAST((id * 7919) % 20003 / 100 AS DECIMAL(7,2)) AS list_price",
        "IF(id % 7 = 0, NULL, CAST((id * 104729) % 5003 / 100 AS DECIMAL(7,2))) AS coupon",
        "CAST(id % 5 AS INT) AS part",
        "CAST(id % 3 AS INT) AS divisor"
      )
      .write
      .partitionBy("part")
      .parquet(s"$files/sales")
    spark.read.parquet(s"$files/sales").createOrReplaceTempView("sales")
    spark.sql(
      "CREATE OR REPLACE TEMP VIEW names AS SELECT id, concat('n', id) AS name FROM range(3)")
    AwkwardRows.createView(spark, "awkward", rows = 300)
  }

  /** A branch of q28. */
  private def bucket(from: Int, to: Int, price: Int, coupon: Int, at: Int): String =
    s"""SELECT avg(list_price) AS b${at}_lp, count(list_price) AS b${at}_cnt,
       |  count(DISTINCT list_price) AS b${at}_cntd
       |FROM sales WHERE quantity BETWEEN $from AND $to
       |  AND (list_price BETWEEN $price AND $price + 10 OR coupon BETWEEN $coupon AND $coupon + 10)
       |""".stripMargin

  private val q28 = sideBySide(
    bucket(0, 5, 8, 45, 1),
    bucket(6, 10, 90, 23, 2),
    bucket(11, 15, 142, 12, 3),
    bucket(16, 20, 135, 6, 4),
    bucket(21, 25, 122, 8, 5),
    bucket(26, 30, 154, 7, 6)) + " LIMIT 100"

  private def assertMerged(sql: String, scansLeft: Int = 1): Unit = {
    assert(fired(sql) == Seq(rule), sql)
    assert(scans(sql) == scansLeft, optimized(sql))
    assertSameAnswer(sql)
    ()
  }

  test("sums of floats in another order are others, with sides swapped they are not") {
    spark.sql("SELECT 1e16D AS a, -1e16D AS b, 1.0D AS c, 2 AS x").write.mode("overwrite")
      .saveAsTable("sums")
    def sides(one: String, other: String) = s"SELECT * FROM (SELECT $one), (SELECT $other)"
    withConf(SQLConf.ANSI_ENABLED.key -> false) {
      Seq(
        sides(
          "count(*) c1 FROM sums WHERE (a + b) + c > 0",
          "max(a) m FROM sums WHERE a + (b + c) > 0"),
        sides(
          "count(*) c1 FROM sums WHERE a + (b + c) > 0 AND x > 0",
          "count(*) c2, max(a) m FROM sums WHERE (a + b) + c > 0 AND x > 1"),
        sides(
          "max((a + b) + c) s FROM sums WHERE x > 0",
          "min(a + (b + c)) m FROM sums WHERE x > 1"),
        sides(
          "count(*) c1 FROM sums WHERE string(greatest(c * 0, b * 0)) = '0.0'",
          "max(x) m FROM sums WHERE string(greatest(b * 0, c * 0)) = '0.0'"),
        sides(
          "max(v) c1 FROM sums LATERAL VIEW explode(array((a + b) + c)) e AS v WHERE v > -5",
          "min(v) m FROM sums LATERAL VIEW explode(array(a + (b + c))) e AS v WHERE v < 5"
        )
      ).foreach { sql =>
        // Spark 4.2 and newer merge such filters themselves, as if they were one.
        assert(fired(sql).isEmpty && declines(sql).subsetOf(Set("SKEW.MERGE_SUM_ORDER")), sql)
        assertSameAnswer(sql)
      }
      val swapped =
        sides("sum(a * c) s FROM sums WHERE x > 0", "max(c * a) m FROM sums WHERE x > 1")
      assertMerged(swapped)
    }
  }

  test("branches with different filters do not read each other's strings") {
    spark.range(500).selectExpr("id", "id % 7 AS n", "concat('text ', id) AS text")
      .write.parquet(s"$files/texts")
    spark.read.parquet(s"$files/texts").createOrReplaceTempView("texts")
    val apart = sideBySide(
      "SELECT max(text) AS a FROM texts WHERE id = 5",
      "SELECT count(*) AS b FROM texts WHERE id > 5")
    assert(declines(apart) == Set("SKEW.MERGE_OTHER_COLUMNS"))
    assertSameAnswer(apart)
    Seq(
      apart.replace("max(text)", "max(n)"),
      apart.replace("count(*)", "count(text)"),
      apart.replace("WHERE id = 5", ""),
      apart.replace("id > 5", "text > 'text 3'"),
      apart.replace("id > 5", "id = 5")
    ).foreach(assertMerged(_))
  }

  test("q28 reads its table once, and explain shows it") {
    assert(stock(scans(q28)) == 6)
    assertMerged(q28)
    val values = explain(q28).fired.head.values
    assert(values == Map("aggregates" -> "6", "filters" -> "6"))
  }

  test(
    "explain says so of what has run, with adaptive execution and without, in one stage or many") {
    for {
      adaptive <- Seq(true, false)
      wholeStage <- Seq(true, false)
    } withConf(
      SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive,
      SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> wholeStage) {
      val ran = spark.sql(q28)
      ran.collect()
      assert(io.firesteel.core.decide.Explain.of(executed(ran)).fired.map(_.rule) == Seq(rule))
    }
  }

  test("columns keep their names, their order and their places") {
    val sql = sideBySide(
      "SELECT count(*) AS a, 'x' AS text FROM sales WHERE quantity < 3",
      "SELECT name FROM names",
      "SELECT max(list_price) AS a FROM sales WHERE quantity > 3",
      "SELECT count(*) AS c FROM awkward",
      "SELECT min(quantity) + count(coupon) AS a FROM sales"
    )
    assertMerged(sql, scansLeft = 3)
    assert(spark.sql(sql).columns.toSeq == Seq("a", "text", "name", "a", "c", "a"))
  }

  test("merges in a tree of joins of any form") {
    val (a, b, c) = (
      "(SELECT sum(quantity) AS s FROM sales WHERE quantity < 9)",
      "(SELECT sum(id) AS i FROM sales WHERE quantity > 9)",
      "(SELECT count(*) AS n FROM sales)")
    assertMerged(s"SELECT * FROM $a CROSS JOIN ($b CROSS JOIN $c)")
    assertMerged(s"SELECT * FROM ($a JOIN names) CROSS JOIN ($b CROSS JOIN $c)", scansLeft = 2)
    assertMerged(s"SELECT i + n, s FROM $a, $b, $c")
  }

  test("merges groups of aggregates by input") {
    val sql = sideBySide(
      "SELECT count(*) FROM sales WHERE quantity < 3",
      "SELECT count(*) FROM awkward WHERE i > 0",
      "SELECT sum(id) FROM sales WHERE quantity > 3",
      "SELECT count(s) FROM awkward"
    )
    assert(fired(sql) == Seq(rule, rule))
    assert(scans(sql) == 2 && globalAggregates(sql) == 2)
    assertSameAnswer(sql)
  }

  test("merges inside of subqueries, under aggregates and in unions") {
    val merged = sideBySide(
      "SELECT count(*) AS a FROM sales WHERE quantity < 3",
      "SELECT count(*) AS b FROM sales WHERE quantity > 90")
    assertMerged(s"SELECT a, count(*) FROM ($merged) GROUP BY a")
    assertMerged(s"SELECT * FROM names WHERE id < (SELECT a + b FROM ($merged))", scansLeft = 1)
  }

  test("aggregates of equal filters share one filter, without FILTER") {
    val sql = sideBySide(
      "SELECT sum(id) AS a FROM sales WHERE quantity < 3 AND part = 1",
      "SELECT max(list_price) AS b FROM sales WHERE part = 1 AND quantity < 3")
    assertMerged(sql)
    assert(!optimized(sql).toString.contains("FILTER"))
  }

  test("filters on partitions still prune them") {
    val sql = sideBySide(
      "SELECT sum(id) AS a FROM sales WHERE part = 1 AND quantity < 5",
      "SELECT max(list_price) AS b FROM sales WHERE part = 1 AND quantity > 5")
    assertMerged(sql)
    val scan = executed(spark.sql(sql)).toString
    assert(scan.matches("(?s).*PartitionFilters: \\[[^]]*part#\\d+ = 1.*"), scan)
  }

  test("aggregates of different partitions are not merged, which reads less") {
    Seq("part = 3 AND quantity > 5", "quantity > 5").foreach { other =>
      val sql = sideBySide(
        "SELECT sum(id) AS a FROM sales WHERE part = 1",
        s"SELECT max(list_price) AS b FROM sales WHERE $other")
      assert(fired(sql).isEmpty && declines(sql) == Set("SKEW.MERGE_OTHER_PARTITIONS"))
      assertSameAnswer(sql)
    }
  }

  test("only the columns that are needed are read") {
    val sql = sideBySide(
      "SELECT sum(id) AS a FROM sales WHERE quantity < 3",
      "SELECT max(id) AS b FROM sales")
    assert(fired(sql) == Seq(rule))
    assert(executed(spark.sql(sql)).toString.contains("ReadSchema: struct<id:bigint,quantity:int>"))
  }

  private val functions = Seq(
    "count(*)",
    "count(list_price, coupon)",
    "count(DISTINCT coupon)",
    "sum(DISTINCT quantity)",
    "avg(list_price * quantity)",
    "sum(id) FILTER (WHERE coupon > 3)",
    "first(id)",
    "collect_list(id)",
    "sort_array(collect_set(quantity))",
    "percentile(quantity, 0.5)",
    "approx_percentile(quantity, array(0.1, 0.9), 100)",
    "max_by(id, list_price)",
    "listagg(CAST(id AS STRING), ',') WITHIN GROUP (ORDER BY id DESC)",
    "percentile_cont(0.25) WITHIN GROUP (ORDER BY coupon)",
    "stddev(quantity)",
    "approx_count_distinct(id)",
    "bool_or(quantity > 3)",
    "any_value(part)",
    "coalesce(sum(id), -1) + sum(id) + count(*)",
    "count_if(coupon IS NULL)",
    "mode(part, true)",
    "1"
  )

  functions.foreach { function =>
    test(s"merges $function") {
      withConf(SQLConf.FILES_MAX_PARTITION_NUM.key -> 1) {
        assertMerged(sideBySide(
          s"SELECT $function AS f, count(1) AS n FROM sales WHERE quantity < 9",
          s"SELECT $function AS g, count(1) AS n FROM sales WHERE list_price > 30 AND divisor > 0",
          s"SELECT $function AS h, count(1) AS n FROM sales WHERE quantity > 1000"
        ))
      }
    }
  }

  test("an input without rows gives the rows that Spark gives") {
    assertMerged(sideBySide(
      "SELECT count(*) AS a, sum(id) AS b, count(DISTINCT id) AS c FROM sales WHERE quantity < -1",
      "SELECT collect_list(id) AS d, avg(coupon) AS e FROM sales WHERE coupon > 1000000"
    ))
  }

  test("awkward values of every type") {
    AwkwardRows.columns.grouped(5).foreach { columns =>
      val aggregates = columns.map(c => s"count(DISTINCT $c), max($c), min($c)").mkString(", ")
      val plain = columns.map(c => s"count($c), first($c)").mkString(", ")
      // In arr and st max cannot distinguish 0.0 from -0.0.
      val branches =
        Seq("i > 0", "d > 0 OR d IS NULL", "NOT (bo AND l > 0)", "s <> 'a'").map(where =>
          s"SELECT ${if (columns.contains("arr")) plain else aggregates} FROM awkward WHERE $where")
      val sql = sideBySide(branches: _*)
      assert(fired(sql) == Seq(rule))
      assertSameAnswer(sql)
    }
  }

  test("computed columns and nested filters are seen through") {
    assertMerged(sideBySide(
      """SELECT sum(y) AS a FROM (SELECT x + 1 AS y FROM
        |(SELECT id * 2 AS x, quantity FROM sales WHERE quantity < 50) WHERE x > 10)""".stripMargin,
      "SELECT max(z) AS b FROM (SELECT coalesce(quantity, 0) AS z FROM sales)"
    ))
  }

  // Spark merges an aggregate without a filter with aggregates that have one, and then fails
  // itself.
  private val sparksOwn = "spark.sql.optimizer.mergeSubplans.filterPropagation.enabled"

  test("an expression that fails on rows of another branch is not evaluated there") {
    Seq(true, false).foreach { wholeStage =>
      withConf(sparksOwn -> false, SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> wholeStage) {
        assertMerged(sideBySide(
          "SELECT sum(10 div divisor) AS a, avg(10 div divisor) AS b FROM sales WHERE divisor > 0",
          "SELECT count(DISTINCT 10 div divisor) AS c FROM sales WHERE divisor <> 0",
          "SELECT count(*) AS d FROM sales"
        ))
        assertMerged(sideBySide(
          "SELECT sum(quantity) AS a FROM sales WHERE divisor > 0 AND 10 div divisor > 5",
          "SELECT sum(id) FILTER (WHERE 10 div divisor = 5) AS a FROM sales WHERE divisor > 1",
          "SELECT count(*) AS d FROM sales"
        ))
      }
    }
  }

  test("a filter on a computed column that cannot be protected is no obstacle") {
    assertMerged(sideBySide(
      "SELECT count(*) AS a FROM sales WHERE id * 3 BETWEEN 20 AND 900 OR id * 3 = 999",
      "SELECT sum(id + 1) AS b FROM sales WHERE id + quantity > 50 AND quantity < 90"
    ))
  }

  test("a part that one condition protects is not computed for another branch") {
    def sum(least: Int) =
      s"SELECT sum(CASE WHEN divisor <> 0 AND 10 / divisor > $least THEN id END) AS s$least FROM sales"
    val sql = sideBySide(sum(1), sum(2))
    if (SinceSpark.is("4.2")) { val _ = assertSameOutcome(sql) }
    else assertMerged(sql)
    assertMerged(sideBySide(sum(1) + " WHERE quantity < 50", sum(2) + " WHERE quantity > 70"))
  }

  test("conditions that protect another one do so in each branch") {
    withConf(sparksOwn -> false) {
      Seq("range(10)", "(SELECT id FROM range(10) WHERE rand(1) < 2)").foreach { from =>
        def count(least: Int) =
          s"SELECT count(*) AS c$least FROM $from WHERE id - 5 > 0 AND 10 div (id - 5) > $least"
        val _ = assertSameAnswer(
          sideBySide(count(1), count(2), s"SELECT count(*) AS c FROM $from WHERE id < 6"))
      }
      spark.range(10).createOrReplaceTempView("ten")
      def ofTen(least: Int) =
        s"SELECT count(*) AS c$least FROM ten WHERE id - 5 > 0 AND 10 div (id - 5) > $least"
      assertMerged(sideBySide(ofTen(1), ofTen(2), "SELECT count(*) AS c FROM ten WHERE id < 6"))
    }
  }

  test("what a projection computes by itself is not computed with other columns") {
    def least(n: Int) = s"CASE WHEN divisor <> 0 AND 10 div divisor > $n THEN 1 END"
    withConf(sparksOwn -> false) {
      assertMerged(sideBySide(
        s"SELECT sum(y) AS a, sum(${least(2)}) AS b FROM (SELECT divisor, ${least(1)} AS y FROM sales)",
        "SELECT sum(quantity) AS c FROM sales WHERE quantity > 5"
      ))
    }
  }

  test("a count that a file's own numbers answer is left alone beside one other branch") {
    val sql = sideBySide(
      "SELECT count(*) AS a FROM stored",
      "SELECT sum(quantity) AS b FROM stored WHERE divisor > 1")
    spark.table("sales").write.parquet(s"$files/stored")
    spark.read.parquet(s"$files/stored").createOrReplaceTempView("stored")
    withConf(sparksOwn -> false) {
      assert(fired(sql).isEmpty && declines(sql) == Set("SKEW.MERGE_OTHER_COLUMNS"))
    }
  }

  test("an error that Spark raises is raised") {
    val sql = sideBySide(
      "SELECT sum(10 div divisor) AS a FROM sales WHERE divisor >= 0",
      "SELECT sum(id) AS d FROM sales")
    assert(fired(sql) == Seq(rule))
    assert(failure(sql).contains("DIVIDE_BY_ZERO"))
    assert(stock(failure(sql)).contains("DIVIDE_BY_ZERO"))
  }

  /** The messages of an error and of its causes. */
  private def failure(sql: String): String = {
    val error: Throwable = intercept[Exception](spark.sql(sql).collect())
    Iterator.iterate(error)(_.getCause).takeWhile(_ != null).map(_.toString).mkString("\n")
  }

  private val twoFilters = Seq("quantity < 9", "quantity > 9")

  private def bothOver(columns: String, from: String = "sales"): String =
    sideBySide(twoFilters.map(where => s"SELECT $columns FROM $from WHERE $where"): _*)

  private val declined = Seq(
    bothOver("sum(r)", "(SELECT *, rand() AS r FROM sales)") -> "NON_DETERMINISTIC",
    bothOver("sum(id)", "(SELECT * FROM sales TABLESAMPLE (50 PERCENT))") -> "NON_DETERMINISTIC",
    bothOver("sum(id + (SELECT count(*) FROM names))") -> "SUBQUERY",
    sideBySide(
      "SELECT count(*) FROM sales WHERE 10 div (divisor + 1) > 2 AND 10 div (quantity + 1) > 1",
      "SELECT count(*) FROM sales WHERE quantity > 9") -> "FILTER_MAY_FAIL",
    sideBySide(
      "SELECT count(*) FROM sales WHERE divisor = 0 OR 10 div divisor > 1",
      "SELECT count(*) FROM sales WHERE quantity > 9") -> "FILTER_MAY_FAIL"
  )

  declined.filter { case (sql, _) =>
    // Before 4.2 the parser gave each sample a seed of its own, so the inputs are not the same.
    SinceSpark.is("4.2") || !sql.contains("TABLESAMPLE")
  }.foreach { case (sql, reason) =>
    test(s"leaves alone${if (reason.isEmpty) "" else s" with $reason"}: $sql") {
      assert(fired(sql).isEmpty)
      val codes = if (reason.isEmpty) Set.empty else Set(s"SKEW.MERGE_$reason")
      assert(declines(sql) == codes)
      if (reason.nonEmpty && reason != "NON_DETERMINISTIC") assertSameAnswer(sql)
    }
  }

  test("a branch that cannot be merged stays next to the merged ones") {
    val sql = sideBySide(
      "SELECT count(*) AS a FROM sales WHERE divisor = 0 OR 10 div divisor > 1",
      "SELECT count(*) AS b FROM sales WHERE quantity < 5",
      "SELECT count(*) AS c FROM sales WHERE quantity > 5"
    )
    assert(fired(sql) == Seq(rule))
    assert(declines(sql) == Set("SKEW.MERGE_FILTER_MAY_FAIL"))
    assert(scans(sql) == 2)
    assertSameAnswer(sql)
  }

  test("ignores groups, joins with a condition, outer joins and different inputs") {
    Seq(
      sideBySide(twoFilters.map(w =>
        s"SELECT part, sum(id) FROM sales WHERE $w GROUP BY part"): _*),
      sideBySide(twoFilters.map(w => s"SELECT sum(id) AS s FROM sales WHERE $w HAVING s > 3"): _*),
      """SELECT * FROM (SELECT sum(id) AS a FROM sales WHERE quantity < 9)
        |JOIN (SELECT sum(id) AS b FROM sales WHERE quantity > 9) ON a < b""".stripMargin,
      """SELECT * FROM (SELECT sum(id) AS a FROM sales WHERE quantity < 9)
        |LEFT JOIN (SELECT sum(id) AS b FROM sales WHERE quantity > 9)""".stripMargin,
      sideBySide("SELECT sum(id) FROM sales", "SELECT count(*) FROM awkward")
    ).foreach { sql =>
      val explained = explain(sql)
      assert(explained.fired.isEmpty && explained.declined.isEmpty, sql)
      assertSameAnswer(sql)
    }
  }

  test("a switch leaves Spark's plan unchanged, with a reason") {
    val spark4 = stock(optimized(q28)).canonicalized
    Seq(SkewConf.ENABLED, SkewConf.MERGE_AGGREGATES).foreach { switch =>
      withConf(switch.key -> false) {
        assert(fired(q28).isEmpty)
        assert(declines(q28) == Set("SKEW.SWITCHED_OFF"))
        assert(optimized(q28).canonicalized == spark4)
      }
    }
  }

  test("a CSV file, whose malformed lines depend on the columns parsed, is read for each") {
    Files.writeString(files.resolve("bad.csv"), "1,a,3\n2,b\nx,c,5\n4,d,6\n")
    spark.read.option("mode", "DROPMALFORMED").schema("a INT, b STRING, c INT")
      .csv(s"$files/bad.csv").createOrReplaceTempView("bad")
    val other = sideBySide("SELECT count(b) FROM bad", "SELECT sum(a) FROM bad WHERE c > 0")
    // Spark 4.2 reads the file once itself, and no node is left that could keep the reason.
    val merges = SinceSpark.is("4.2") && !SinceSpark.is("4.3")
    assert(fired(other).isEmpty)
    assert(declines(other) == (if (merges) Set() else Set("SKEW.MERGE_COLUMNS_MATTER")))
    assertSameAnswer(other)
    assertMerged(sideBySide("SELECT sum(a) FROM bad", "SELECT count(*) FROM bad WHERE a > 1"))
  }

  test("a cached table, a random table, a CTE") {
    spark.sql("CACHE TABLE cached AS SELECT * FROM sales WHERE id < 500")
    assertMerged(bothOver("sum(id), count(DISTINCT coupon)", "cached"))
    RandomTables.createView(spark, "few", Seq(Row(1, "a", 1.0, 2L, null, "b", 0L)))
    assertMerged(sideBySide("SELECT sum(v1) FROM few WHERE k1 = 1", "SELECT count(v2) FROM few"))
    assertMerged("WITH t AS (SELECT id + 1 AS i, quantity FROM sales) " + bothOver("sum(i)", "t"))
  }

  test("subqueries that Spark merges itself stay right next to it") {
    val key =
      "spark.sql.optimizer.mergeSubplans.filterPropagation.symmetricFilterPropagation.enabled"
    withConf(key -> true) {
      assertMerged(q28)
      assertSameAnswer(
        """SELECT (SELECT sum(id) FROM sales WHERE quantity < 9),
          |(SELECT max(id) FROM sales WHERE quantity > 9)""".stripMargin)
    }
  }

  test("collated strings keep their collation in FILTER") {
    assertMerged(sideBySide(
      "SELECT count(DISTINCT ci), max(uni) FROM awkward WHERE ci = 'A'",
      "SELECT count(*) FROM awkward WHERE uni = 'E'"))
  }
}
