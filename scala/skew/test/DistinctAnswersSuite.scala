package io.firesteel.skew

import io.firesteel.core.CoreConf
import io.firesteel.testkit.{AwkwardRows, TestSize}
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.execution.WholeStageCodegenExec
import org.apache.spark.sql.internal.SQLConf

/** Named cases: Spark's answer, or a reason. */
class DistinctAnswersSuite extends SkewSuite {

  override def beforeAll(): Unit = {
    super.beforeAll()
    AwkwardRows.createView(spark, "awkward", 3000)
    spark.sql("""SELECT id % 7 AS k, id % 1000 AS a, (id * 31) % 500 AS b, id AS v, id % 3 = 0 AS f,
      CAST(id % 200 AS STRING) AS s, CAST(id % 90 AS DECIMAL(30, 2)) AS wide,
      CAST(id % 70 AS DECIMAL(9, 2)) AS small, CAST(id % 60 AS DOUBLE) / 4 AS d
      FROM range(0, 20000, 1, 4)""").createOrReplaceTempView("t")
    spark.sql("SELECT * FROM t WHERE k > 100").createOrReplaceTempView("nothing")
  }

  private var turn = 0

  /** A query that fires, including its sets, whatever their groups. */
  private def assertFires(sql: String): Unit = withConf(SkewConf.PHASES.key -> "two_phase") {
    assert(fired(sql).filterNot(_ == "SortPercentiles") == Seq("PlanDistinctAggregate"), sql)
    val theirs = stock(spark.sql(sql).collect().toSeq)
    // Each path in turn: every two queries cover all paths.
    turn += 1
    ways.zipWithIndex.filter(_._2 % 2 == turn % 2).foreach { case (way, i) =>
      withConf(way :+ (SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> (i < 2)): _*) {
        assertSameRows(spark.sql(sql).collect().toSeq, theirs, s"$sql\n$way")
      }
    }
  }

  test("a part that one condition protects is not computed for another") {
    spark.sql("SELECT id % 3 AS z, id AS n, id % 7 AS a, id % 5 AS b FROM range(0, 3000, 1, 2)")
      .createOrReplaceTempView("divisors")
    Seq(
      "SELECT count(DISTINCT CASE WHEN z <> 0 AND n / z > 1 THEN a END) AS x, " +
        "count(DISTINCT CASE WHEN z <> 0 AND n / z > 2 THEN b END) AS y FROM divisors",
      "SELECT count(DISTINCT a) FILTER (WHERE z <> 0 AND n / z > 1) AS x, " +
        "count(DISTINCT b) FILTER (WHERE z <> 0 AND n / z > 2) AS y FROM divisors",
      "SELECT count(DISTINCT a) AS x, count(DISTINCT b) AS y, sum(CASE WHEN z <> 0 AND n / z > 1 THEN a END) AS s, " +
        "max(CASE WHEN z <> 0 AND n / z > 2 THEN b END) AS m FROM divisors"
    ).foreach(assertFires)
  }

  test("a limit above stays, whatever adaptive execution knows of the blocks") {
    val groups =
      "SELECT id % 2500 AS g, count(DISTINCT id % 7) AS a, count(DISTINCT id % 11) AS b " +
        "FROM range(0, 5000, 1, 2) GROUP BY id % 2500"
    Seq(true, false).foreach { adaptive =>
      withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive) {
        Seq(1, 10, 1000).foreach { n =>
          assert(spark.sql(s"SELECT * FROM ($groups) LIMIT $n").collect().length == n)
        }
        assert(fired(groups) == Seq("PlanDistinctAggregate"))
        assertSameAnswer(s"SELECT DISTINCT a, b FROM ($groups)")
        val sorted = s"SELECT g FROM ($groups) ORDER BY g DESC LIMIT 2000"
        assert(spark.sql(sorted).collect().toSeq == stock(spark.sql(sorted).collect().toSeq))
      }
    }
  }

  test("operators below may continue while blocks are sent") {
    val rows = "SELECT id % 3000 + copy AS g, id * copy AS a, CAST(id + copy AS INT) AS b, " +
      "CAST(id AS STRING) AS s FROM range(0, 6000, 1, 2) LATERAL VIEW explode(sequence(1, 60)) AS copy"
    val counts = "count(DISTINCT a), count(DISTINCT b), count(DISTINCT s), sum(b), avg(a)"
    val all = for (memory <- Seq("256k", "4m"); whole <- Seq(true, false)) yield (memory, whole)
    val some = Seq("256k" -> true, "4m" -> false)
    for ((memory, wholeStage) <- if (TestSize.isLong) all else some)
      withConf(
        SkewConf.MAX_TASK_MEMORY.key -> memory,
        SkewConf.MAX_NEW_VALUES.key -> 1.0,
        SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> wholeStage) {
        // One bucket: its first blocks are full long before the last value is sent.
        assertSameAnswer(s"SELECT /*+ TWO_PHASE(1) */ g, $counts FROM ($rows) GROUP BY g")
        assertSameAnswer(s"SELECT s, $counts FROM ($rows) GROUP BY s")
      }
  }

  test("a function of more columns than a method may have parameters") {
    val columns = (0 until 95).map(i => s"c$i")
    val rows = columns.map(c => s"nullif(id % 7, length('$c')) AS $c").mkString(", ")
    withConf(SQLConf.CODEGEN_FALLBACK.key -> false) {
      assertFires(
        "SELECT c0, count(DISTINCT c1), count(DISTINCT c2), " +
          s"bit_xor(xxhash64(${columns.mkString(", ")})), count(${columns.mkString(", ")}) " +
          s"FROM (SELECT $rows FROM range(100)) GROUP BY c0")
    }
  }

  test("values are taken from generated code, unless a function needs whole rows") {
    def isGenerated(more: String): Boolean = {
      val sql = s"SELECT k, count(DISTINCT a), count(DISTINCT s), $more FROM t GROUP BY k"
      assert(fired(sql) == Seq("PlanDistinctAggregate"))
      withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false) {
        executed(spark.sql(sql)).exists {
          case WholeStageCodegenExec(_: PartialDistinctExec) => true
          case _ => false
        }
      }
    }
    Seq("sum(v)", "avg(wide) FILTER (WHERE f)", "max(d), bit_xor(v)").foreach(m =>
      assert(isGenerated(m), m))
    Seq("max(s)", "collect_list(v)").foreach(m => assert(!isGenerated(m), m))
  }

  test("functions read a column unchanged, next to a key computed from it") {
    spark.sql(
      """SELECT CAST(c AS DOUBLE) AS z, id % 5 AS a, id % 3 AS b FROM range(30)
        |LATERAL VIEW explode(array('0.0', '-0.0', 'NaN', '1')) AS c""".stripMargin)
      .createOrReplaceTempView("zeros")
    assertFires(
      "SELECT z, count(DISTINCT a), count(DISTINCT b), count_if(CAST(z AS STRING) = '-0.0'), " +
        "count(DISTINCT CAST(z AS STRING)) FROM zeros GROUP BY z")
  }

  test("averages of short decimals are rounded as Spark's") {
    val rows =
      "SELECT CAST((CASE WHEN id = 159 THEN 160 ELSE id END) / 100D AS DECIMAL(7, 2)) AS d, " +
        "id AS e FROM range(160)"
    Seq(
      "avg(DISTINCT d)",
      "avg(DISTINCT d) FILTER (WHERE e >= 0)",
      "avg(d), sum(DISTINCT d)",
      "sum(DISTINCT d), avg(DISTINCT d), count(DISTINCT d), avg(DISTINCT -d)"
    ).foreach { calls =>
      assertFires(s"SELECT $calls, count(DISTINCT e) FROM ($rows)")
      assertFires(s"SELECT e % 2, $calls, count(DISTINCT e) FROM ($rows) GROUP BY e % 2")
    }
  }

  test("aggregates that Spark merges after it was decided about one") {
    spark.sql("SELECT * FROM VALUES (1, 1, CAST(NULL AS INT), 10), (2, 2, 5, 1) AS v(a, b, x, y)")
      .write.mode("overwrite").saveAsTable("merged_later")
    Seq("max_by(DISTINCT x, y)", "min_by(DISTINCT x, y)", "count(DISTINCT x)").foreach { other =>
      assertSameAnswer(
        "SELECT (SELECT count(DISTINCT a) + count(DISTINCT b) FROM merged_later), " +
          s"(SELECT $other FROM merged_later)")
    }
    assertSameAnswer(
      "SELECT (SELECT count(DISTINCT a) + count(DISTINCT b) + percentile(a, 0.9) FROM merged_later), " +
        "(SELECT percentile(DISTINCT y, 0.5) FROM merged_later)")
    val _ = spark.sql("DROP TABLE merged_later")
  }

  test("arguments that Spark computes for each copy of a row raise its errors") {
    val rows = "VALUES (1, 1, 1), (2, 2, 0) AS t(a, b, v)"
    Seq("first(100 / v)", "count(nullif(a, 2), 100 / v)").foreach { call =>
      assertSameOutcome(s"SELECT count(DISTINCT a), count(DISTINCT b), $call FROM $rows")
    }
  }

  test("a query with an unknown column has Spark's error") {
    Seq(
      "SELECT a, count(*) FROM (SELECT a, nosuch + 1 FROM t) GROUP BY a",
      "SELECT a, count(DISTINCT b), count(DISTINCT v) FROM (SELECT a, b, v, f + 1 FROM t) GROUP BY a"
    ).foreach { sql =>
      val ours = intercept[AnalysisException](spark.sql(sql)).getCondition
      assert(ours == stock(intercept[AnalysisException](spark.sql(sql)).getCondition))
    }
  }

  private val queries = Seq(
    "SELECT k, count(DISTINCT a), count(DISTINCT b) FROM t GROUP BY k",
    "SELECT count(DISTINCT a), count(DISTINCT b) FROM t",
    "SELECT count(DISTINCT a), count(DISTINCT b), sum(v), max(s) FROM nothing",
    "SELECT k, count(DISTINCT a), count(DISTINCT b), sum(v) FROM nothing GROUP BY k",
    "SELECT k, count(DISTINCT a), count(DISTINCT b), sum(v), avg(v), max(s) FROM t GROUP BY k",
    "SELECT k, sum(DISTINCT a), avg(DISTINCT b), count(DISTINCT a) FROM t GROUP BY k",
    "SELECT k, sum(DISTINCT wide), avg(DISTINCT small), avg(DISTINCT wide), count(*) FROM t GROUP BY k",
    "SELECT k, sum(DISTINCT d), round(stddev(DISTINCT d), 9), count(DISTINCT s) FROM t GROUP BY k",
    "SELECT k, count(DISTINCT a, b), count(DISTINCT s), count(1) FROM t GROUP BY k",
    "SELECT k, count(DISTINCT a) FILTER (WHERE f), count(DISTINCT a) FROM t GROUP BY k",
    "SELECT k, count(DISTINCT a) FILTER (WHERE f), count(v) FILTER (WHERE v > 9) FROM t GROUP BY k",
    "SELECT k, f, count(DISTINCT a), count(DISTINCT s) FROM t GROUP BY k, f",
    "SELECT s, count(DISTINCT a), count(DISTINCT b) FROM t GROUP BY s",
    "SELECT k, f, count(DISTINCT a), count(DISTINCT b), sum(v) FROM t GROUP BY CUBE(k, f)",
    "SELECT k, f, count(DISTINCT a), count(DISTINCT b) FROM t GROUP BY ROLLUP(k, f)",
    "SELECT k + 1, count(DISTINCT a) * 2 + count(DISTINCT b) FROM t GROUP BY k + 1",
    "SELECT k FROM t GROUP BY k HAVING count(DISTINCT a) > count(DISTINCT b)",
    "SELECT k, count(DISTINCT a), count(DISTINCT b), sort_array(collect_set(s)) FROM t GROUP BY k",
    "SELECT k, count(DISTINCT a), count(DISTINCT b), percentile(v, 0.5) FROM t GROUP BY k",
    "SELECT k, count(DISTINCT a), count(DISTINCT 1), count(DISTINCT NULL) FROM t GROUP BY k",
    "SELECT k, sort_array(collect_set(s)), sum(v) FROM t GROUP BY k",
    "SELECT sort_array(collect_set(a)), sort_array(collect_set(wide)) FROM t",
    "SELECT sort_array(collect_set(a)), count(*) FROM nothing",
    "SELECT k, count(DISTINCT a), sort_array(collect_set(a) FILTER (WHERE f)) FROM t GROUP BY k",
    "SELECT k, sort_array(collect_list(DISTINCT d)), count(DISTINCT s) FROM t GROUP BY k",
    "SELECT v, count(DISTINCT a), count(DISTINCT b), sum(k) FROM t GROUP BY v"
  )

  queries.foreach(sql => test(sql)(assertFires(sql)))

  test("values of every type, by keys of every type") {
    val plain = AwkwardRows.sortable.collect { case (c, t) if !t.contains("COLLATE") => c }
    val counts = AwkwardRows.columns.map(c => s"count(DISTINCT $c)").mkString(", ")
    assertFires(s"SELECT $counts FROM awkward")
    assertFires(s"SELECT f, bo, $counts FROM awkward GROUP BY f, bo")
    plain.foreach { key =>
      assertSameAnswer(s"SELECT $key, count(DISTINCT l), count(DISTINCT uni, d), count(*) " +
        s"FROM awkward GROUP BY $key")
    }
  }

  test("sets of every type that has one") {
    withConf(SkewConf.PHASES.key -> "TWO_PHASE")(setsOfEveryType())
  }

  private def setsOfEveryType(): Unit = {
    val sets = AwkwardRows.sortable.collect {
      case (c, t) if !t.contains("COLLATE") => s"sort_array(collect_set($c))"
    }
    assertSameAnswer(s"SELECT bo, ${sets.mkString(", ")} FROM awkward GROUP BY bo")
    ()
  }

  test("sums and averages of awkward numbers") {
    val columns = Seq("by", "sh", "i", "small", "ym", "dt")
    // The widest decimals may overflow or not, depending on the order of addition.
    val sums = (columns :+ "CAST(wide / 1000 AS DECIMAL(38, 6))")
      .map(c => s"sum(DISTINCT $c), avg(DISTINCT $c)")
      .mkString(", ")
    withConf(SQLConf.ANSI_ENABLED.key -> false) {
      assertFires(s"SELECT bo, $sums, count(DISTINCT s) FROM awkward GROUP BY bo")
    }
  }

  test("an overflow is Spark's error or Spark's null") {
    val sql = "SELECT sum(DISTINCT l), count(DISTINCT i) FROM " +
      "VALUES (9223372036854775807L, 1), (1L, 2) AS t(l, i)"
    withConf(SQLConf.ANSI_ENABLED.key -> true) {
      val error = intercept[ArithmeticException](spark.sql(sql).collect())
      assert(error.getMessage.contains("overflow"))
    }
    withConf(SQLConf.ANSI_ENABLED.key -> false) {
      assertSameAnswer(sql)
      assertSameAnswer("SELECT sum(DISTINCT x), count(DISTINCT y) FROM VALUES " +
        "(CAST('9' || repeat('9', 37) AS DECIMAL(38, 0)), 1), (1, 2) AS t(x, y)")
    }
  }

  test("inside a subquery, a join and a union") {
    val one = "SELECT k, count(DISTINCT a) AS x, count(DISTINCT b) AS y FROM t GROUP BY k"
    assertSameAnswer(s"SELECT * FROM ($one) l JOIN ($one) r ON l.x = r.x AND l.k <= r.k")
    assertSameAnswer(s"SELECT * FROM ($one) UNION ALL SELECT k, 1, 2 FROM t WHERE v < 5")
    assertSameAnswer(s"SELECT v FROM t WHERE v < (SELECT max(x) FROM ($one))")
    assertSameAnswer("SELECT k, count(DISTINCT if(a > (SELECT avg(b) FROM t), a, 0)), " +
      "count(DISTINCT b) FROM t GROUP BY k")
  }

  test("sets are computed if statistics show few groups, or if there is one group") {
    val single = "SELECT sort_array(collect_set(a)) FROM t"
    assert(declines(single) == Set("SKEW.SMALL_INPUT"))
    withConf(SQLConf.CBO_ENABLED.key -> true, SkewConf.SAMPLE_MIN_SIZE.key -> 1) {
      spark.sql("CREATE TABLE few AS SELECT id % 5 AS k, id % 50 AS a FROM range(1000)")
      try {
        val sql = "SELECT k, sort_array(collect_set(a)) FROM few GROUP BY k"
        withConf(SkewConf.SAMPLE_MIN_SIZE.key -> "64m")(assert(fired(sql).isEmpty))
        spark.sql("ANALYZE TABLE few COMPUTE STATISTICS FOR ALL COLUMNS")
        assert(fired(sql) == Seq("PlanDistinctAggregate"))
        val _ = assertSameAnswer(sql)
      } finally {
        val _ = spark.sql("DROP TABLE few")
      }
      assert(fired(single) == Seq("PlanDistinctAggregate"))
    }
  }

  test("without statistics a sample shows whether groups are few, or one has half of the rows") {
    def sql(name: String, where: String = "a >= 0") =
      s"SELECT k, sort_array(collect_set(a)), count(*) FROM $name WHERE $where GROUP BY k"
    val names = Seq("few" -> "id % 5", "hot" -> "IF(id % 10 < 7, -1, id)", "many" -> "id % 1500")
    try {
      names.foreach { case (name, key) =>
        val rows = spark.range(20000).selectExpr(s"$key AS k", "id % 50 AS a", "id % 2 AS part")
        rows.write.mode("overwrite").partitionBy("part").saveAsTable(name)
      }
      assert(declines(sql("few")) == Set("SKEW.MANY_GROUPS"), "too small for a sample")
      withConf(SkewConf.SAMPLE_MIN_SIZE.key -> 1) {
        for { (name, _) <- names; adaptive <- Seq(true, false) } {
          withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive) {
            val wanted = if (name == "many") Nil else Seq("PlanDistinctAggregate")
            assert(fired(sql(name)) == wanted, name)
            assert(declines(sql(name)).isEmpty == wanted.nonEmpty, name)
            val _ = assertSameAnswer(sql(name))
          }
        }
        val why = explain(sql("many")).declined.head.why
        assert(why.code == "SKEW.MANY_GROUPS" && why.values("groups") == "1500", why)
        assert(why.values("largest share").toDouble < 0.01)
        // Partitions are pruned by then.
        assert(fired(sql("few", "part = 1")) == Seq("PlanDistinctAggregate"))
        // A sample runs neither subqueries nor shuffles.
        Seq(
          sql("few", "a > (SELECT min(a) FROM many)"),
          "SELECT a, collect_set(k) FROM (SELECT a, k FROM few DISTRIBUTE BY a) GROUP BY a"
        ).foreach(unread => assert(declines(unread) == Set("SKEW.MANY_GROUPS"), unread))
        Seq(
          SkewConf.ENABLED.key -> "false",
          SkewConf.PHASES.key -> "ONE_PHASE",
          "spark.firesteel.enabled" -> "false"
        ).foreach(off => withConf(off)(assert(fired(sql("few")).isEmpty, off)))
      }
    } finally names.foreach { case (name, _) =>
        val _ = spark.sql(s"DROP TABLE IF EXISTS $name")
      }
  }

  test("sessions stay Spark's") {
    val rows = """SELECT id % 2 AS k, id % 5 AS a, id % 7 AS b, session_window(t, '1 minute') AS w
      FROM (SELECT id, TIMESTAMP_SECONDS(id * id % 5000) AS t FROM range(0, 300, 1, 2))"""
    def sql(by: String, calls: String): String =
      s"SELECT k, w.start, w.end, $calls, count(*) FROM ($rows) GROUP BY $by"
    for {
      by <- Seq("w, k", "k, w")
      calls <- Seq("count(DISTINCT a), count(DISTINCT b)", "sort_array(collect_set(a))")
    } withConf(SkewConf.PHASES.key -> "TWO_PHASE") {
      assertSameAnswer(sql(by, calls))
      assert(declines(sql(by, calls)) == Set("SKEW.SESSION_WINDOW"))
    }
  }

  test("declines, with a reason") {
    assert(declines("SELECT k, count(DISTINCT a), sum(DISTINCT a), sum(v) FROM t GROUP BY k")
      == Set("SKEW.ONE_DISTINCT"))
    assert(declines("SELECT ci, count(DISTINCT i), count(DISTINCT l) FROM awkward GROUP BY ci")
      == Set("SKEW.UNSUPPORTED_TYPE"))
    assert(declines("SELECT count(DISTINCT i), percentile(DISTINCT l, 0.5) FROM awkward")
      == Set("SKEW.UNSUPPORTED_FUNCTION"))
    assert(declines("SELECT k, collect_set(a) FROM t GROUP BY k") == Set("SKEW.MANY_GROUPS"))
    withConf(SkewConf.PHASES.key -> "ONE_PHASE") {
      assert(declines("SELECT count(DISTINCT a), count(DISTINCT b) FROM t")
        == Set("SKEW.ONE_PHASE"))
    }
    withConf(SkewConf.ENABLED.key -> false) {
      assert(declines("SELECT count(DISTINCT a), count(DISTINCT b) FROM t")
        == Set("SKEW.SWITCHED_OFF"))
    }
  }

  test("switched off, the plan is Spark's own") {
    val sql = "SELECT k, count(DISTINCT a), count(DISTINCT b) FROM t GROUP BY k"
    withConf(CoreConf.ENABLED.key -> false) {
      assert(fired(sql).isEmpty)
      assert(executed(spark.sql(sql)).toString.contains("Expand"))
    }
  }
}
