package io.firesteel.shuffle

import io.firesteel.core.plans.PlanMetrics
import io.firesteel.testkit.{DegenerateCalls, TestSize}
import java.net.URI
import java.nio.file.{Files, Paths}

import scala.util.Random

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.DataFrame

/** Local aggregates that emit their rows unaggregated while few rows of a task have equal keys. */
class AdaptiveLocalAggregateSuite extends ShuffleSuite {

  override protected def settings: Map[String, String] = Map(
    ShuffleConf.SAMPLE_ROWS.key -> "4000",
    ShuffleConf.SAMPLE_MIN_SIZE.key -> "1",
    ShuffleConf.LOCAL_AGGREGATE_SAMPLE_MIN_SIZE.key -> "1")

  private val queries = TestSize.cases(8)
  private val seed = TestSize.seed(20261122L)

  /** In `changing` a task first has different keys, then the same few keys. */
  override def beforeAll(): Unit = {
    super.beforeAll()
    val columns = """IF(k % 7 = 3, NULL, k) AS i, k AS l, concat('s', k) AS s,
      concat(IF(k % 2 = 0, 'p', 'P'), k) COLLATE UTF8_LCASE AS c,
      CASE k % 5 WHEN 0 THEN 0.0D WHEN 1 THEN -0.0D WHEN 2 THEN double('NaN') ELSE k / 2D END AS d,
      CAST(k AS DECIMAL(38, 2)) AS n, named_struct('x', k, 'y', IF(k % 3 = 0, NULL, 'z')) AS r,
      array(k, NULL) AS a, CAST(concat('b', k) AS BINARY) AS b, timestamp_seconds(k) AS t,
      k % 2 = 0 AS o, map('k', k) AS m, id AS v, IF(id % 9 = 0, NULL, id % 100 / 4D) AS w"""
    Map("distinct" -> "id", "changing" -> "IF(id % 20000 < 6000, id, id % 50)", "few" -> "id % 50")
      .foreach { case (name, key) =>
        spark
          .sql(s"SELECT $columns FROM (SELECT id, $key AS k FROM range(0, 80000, 1, 4))")
          .write
          .saveAsTable(name)
      }
    spark.sql("SELECT IF(v % 3 = 0, 5, v) AS l, v, w FROM distinct").write.saveAsTable("hot")
  }

  private val rule = AdaptLocalAggregates.name

  private def counts(data: DataFrame): Map[String, Long] = {
    val _ = data.collect()
    PlanMetrics.ofFired(executed(data)).collectFirst {
      case (node, counts) if node.firedRule == rule => counts
    }.getOrElse(Map.empty)
  }

  private val sums = "SELECT l, count(*), sum(v), avg(w) FROM %s GROUP BY l"

  test("a part that one FILTER protects is not computed for another") {
    val sql = "SELECT l, count(*) FILTER (WHERE v % 3 <> 0 AND v / (v % 3) > 1) AS a, " +
      "sum(v) FILTER (WHERE v % 3 <> 0 AND v / (v % 3) > 2) AS b FROM distinct GROUP BY l"
    assert(fired(sql).contains(rule))
    assertSameAnswer(sql)
  }

  Seq(true, false).foreach { adaptive =>
    test(s"rows go on as long as their keys differ, adaptive execution $adaptive") {
      withConf("spark.sql.adaptive.enabled" -> adaptive) {
        val distinct = spark.sql(sums.format("distinct"))
        assert(counts(distinct) ==
          Map("numRowsAlone" -> 80000, "numRowsAggregated" -> 0, "numOutputRows" -> 80000))
        val changing = counts(spark.sql(sums.format("changing")))
        assert(changing("numRowsAggregated") > 10000 && changing("numRowsAlone") > 10000, changing)
        assert(changing("numRowsAggregated") + changing("numRowsAlone") == 80000)
        assert(changing("numOutputRows") < 60000, changing)
        Seq("distinct", "changing", "few", "hot").foreach(t => assertSameAnswer(sums.format(t)))
      }
    }

    test(s"random aggregates, adaptive execution $adaptive") {
      val calls = Seq(
        "count(*)",
        "count(w)",
        "sum(v)",
        "sum(w)",
        "avg(n)",
        "min(d)",
        "max(s)",
        "max(c)",
        "sum(n)",
        "count(DISTINCT o)",
        "max(r)",
        "min(t)",
        "stddev(w)",
        "bool_or(o)",
        "max_by(v, v)",
        "min_by(s, v)",
        "count(s) FILTER (WHERE v % 3 = 0)",
        "bit_xor(v)",
        "sum(v) FILTER (WHERE o)",
        "max(b)",
        "corr(v, w)",
        "try_sum(v)",
        "first(o)",
        "any_value(l % 1)",
        "approx_count_distinct(o)",
        "array_sort(collect_set(o))",
        "max(m['k'])"
      )
      val keys = Seq(
        "i",
        "l",
        "s",
        "c",
        "d, l",
        "n",
        "r",
        "a",
        "b",
        "t",
        "o, s",
        "l + 1",
        "m",
        "upper(s)",
        "CAST(l AS STRING)")
      var adapted = 0
      (0 until queries / 2).foreach { i =>
        val random = new Random(seed + i)
        def one(of: Seq[String]): String = of(random.nextInt(of.size))
        val of = random.shuffle(calls).take(random.nextInt(4))
        val key = one(keys)
        val where = one(Seq("true", "v % 2 = 0", "w IS NOT NULL"))
        val aggregate = of.zipWithIndex.map { case (call, j) =>
          if (call.startsWith("stddev") || call.startsWith("corr")) s"round($call, 9) AS c$j"
          else if (call == "first(o)" || call.startsWith("any_value")) s"$call IS NULL AS c$j"
          else s"$call AS c$j"
        }
        val grouped = s"SELECT ${("max(lower(s)) AS k" +: aggregate).mkString(", ")} " +
          s"FROM ${one(Seq("changing", "changing", "distinct"))} WHERE $where GROUP BY $key"
        withConf(
          "spark.sql.adaptive.enabled" -> adaptive,
          "spark.sql.codegen.wholeStage" -> (random.nextInt(4) > 0),
          "spark.sql.ansi.enabled" -> random.nextBoolean(),
          "spark.sql.execution.useObjectHashAggregateExec" -> random.nextBoolean()
        ) {
          if (fired(grouped).contains(rule)) adapted += 1
          assertSameAnswer(grouped)
        }
      }
      assert(adapted > queries / 8, "too few of the aggregates are adaptive")
    }
  }

  test("the sort of a local aggregate is removed, too") {
    val sql = "SELECT l, max(s), min(c) FROM %s GROUP BY l"
    assert(counts(spark.sql(sql.format("changing")))("numRowsAggregated") > 10000)
    assert(explain(sql.format("distinct")).plan.split("\n").count(_.contains("Sort ")) == 1)
    Seq("distinct", "changing").foreach(t => assertSameAnswer(sql.format(t)))
  }

  test("it fires below a shuffle by fewer keys") {
    val sql =
      "SELECT l, max(n) FROM (SELECT l, o, count(*) AS n FROM distinct GROUP BY l, o) GROUP BY l"
    assert(fired(sql).toSet == Set("RemoveRedundantShuffle", rule))
    val _ = assertSameAnswer(sql)
  }

  test("sums that leave the range of their type on the way are Spark's") {
    // One of two tasks has the largest number, the other has numbers with sum 0.
    spark.range(0, 4, 1, 2).createOrReplaceTempView("four")
    val widest =
      Seq("9223372036854775807L", "9" * 38 + "BD", "INTERVAL '178956970-7' YEAR TO MONTH")
    val calls = Seq("sum(v)", "try_sum(v)", "try_avg(v)", "sum(v) FILTER (WHERE k > 0)")
    for (widest <- widest; ansi <- Seq(true, false))
      withConf(ShuffleConf.DISTINCT_VALUE_RATE.key -> 0, "spark.sql.ansi.enabled" -> ansi) {
        def grouped(second: String, more: String) =
          s"SELECT k, ${calls.mkString(", ")} $more FROM (SELECT 1 AS k, string(id) AS s, " +
            s"element_at(array($widest, $second, $widest, -$widest), int(id) + 1) AS v FROM four) GROUP BY k"
        for (second <- Seq("NULL", widest); more <- Seq("", ", max(s)")) {
          assert(fired(grouped(second, more)).contains(rule))
          assertSameOutcome(grouped(second, more))
        }
        // Here Spark first adds up within each distinct value, and may overflow.
        val distinct = grouped("NULL", ", count(DISTINCT s), collect_list(DISTINCT s)")
        assert(fired(distinct).contains(rule))
        val expected = stock(spark.sql(grouped("NULL", "")).collect().head)
        assert(spark.sql(distinct).collect().head.toSeq.take(5) == expected.toSeq)
      }
  }

  test("functions of degenerate arguments are Spark's") {
    withConf(ShuffleConf.DISTINCT_VALUE_RATE.key -> 0) {
      val rows = "(SELECT CAST(id - 2 AS INT) AS a FROM range(0, 5, 1, 2))"
      DegenerateCalls.plain("a").grouped(12).foreach { calls =>
        assertSameAnswer(
          s"SELECT a % 2, ${DegenerateCalls.columns(calls)} FROM $rows GROUP BY a % 2")
      }
    }
  }

  test("equal aggregates still share their shuffle") {
    val grouped = "SELECT l, sum(v) AS s FROM distinct GROUP BY l"
    val sql = s"SELECT * FROM ($grouped) AS x JOIN ($grouped) AS y ON x.l = y.l AND x.s <= y.s"
    withConf("spark.sql.autoBroadcastJoinThreshold" -> -1) {
      val data = spark.sql(sql)
      assert(data.collect().length == 80000)
      assert(fired(sql).contains(rule))
      assert(shufflesOf(data) == 1)
    }
  }

  test("left to Spark") {
    val aggregate = "SELECT l, count(*) FROM distinct GROUP BY l"
    assert(fired(aggregate) == Seq(rule))
    Seq(
      sums.format("few"),
      sums.format("hot"),
      "SELECT count(*) FROM distinct",
      "SELECT l, collect_list(v) FROM distinct GROUP BY l",
      "SELECT l, count(*) FROM distinct WHERE v > (SELECT avg(v) FROM distinct) GROUP BY l",
      "SELECT l, sum(v + (SELECT max(v) FROM few)) FROM distinct GROUP BY l",
      "SELECT l, count(*) FROM distinct JOIN few USING (l) GROUP BY l",
      "SELECT rand(1), count(*) FROM distinct GROUP BY 1"
    ).foreach(sql => assert(!fired(sql).contains(rule), sql))
    Seq(
      ShuffleConf.ADAPTIVE_LOCAL_AGGREGATE.key -> "false",
      ShuffleConf.ENABLED.key -> "false",
      "spark.firesteel.enabled" -> "false",
      ShuffleConf.SAMPLE.key -> "false",
      ShuffleConf.LOCAL_AGGREGATE_SAMPLE_MIN_SIZE.key -> "1g"
    ).foreach { setting =>
      // With an existing sample it may fire.
      withConf(setting, ShuffleConf.SAMPLE_ROWS.key -> "4001") {
        assert(fired(aggregate).isEmpty, setting)
      }
    }
    withConf(ShuffleConf.SAMPLE_ROWS.key -> "500")(assert(fired(aggregate).isEmpty))
  }

  test("fires for partial aggregates only: a final aggregate without functions looks the same") {
    withConf(ShuffleConf.DISTINCT_VALUE_RATE.key -> 0) {
      Seq(
        "SELECT DISTINCT l FROM few ORDER BY l",
        "SELECT l, o FROM few GROUP BY l, o ORDER BY o, l",
        "SELECT /*+ REPARTITION(3) */ * FROM (SELECT DISTINCT l FROM few)",
        "SELECT /*+ REBALANCE */ * FROM (SELECT DISTINCT c FROM few)",
        "SELECT /*+ SHUFFLE_HASH(x) */ * FROM (SELECT DISTINCT l, o FROM few) AS x JOIN few AS y ON x.o = y.o AND y.v < 9",
        "SELECT count(DISTINCT l), sum(v) FROM few GROUP BY o"
      ).foreach { sql =>
        assert(fired(sql) == Seq(rule), sql)
        val _ = assertSameAnswer(sql)
      }
    }
  }

  test("sums that overflow when states are merged") {
    val big = "CAST(6e37 AS DECIMAL(38, 0))"
    Seq(true, false).foreach { ansi =>
      withConf("spark.sql.ansi.enabled" -> ansi) {
        Seq(
          s"avg($big)",
          s"sum(coalesce($big, 0))",
          s"sum($big)",
          "sum(CAST(v AS INT) + 2147400000)")
          .map(call => s"SELECT l, $call FROM changing GROUP BY l")
          .foreach { sql =>
            def answer: Either[String, Set[String]] =
              try Right(spark.sql(sql).collect().map(_.toString).toSet)
              catch { case e: SparkThrowable => Left(e.getCondition) }
            val ours = answer
            assert(fired(sql) == Seq(rule), sql)
            assert(ours == stock(answer), sql)
          }
      }
    }
  }

  test("any keys, if the setting is 0") {
    withConf(ShuffleConf.DISTINCT_VALUE_RATE.key -> 0) {
      assert(fired(sums.format("few")) == Seq(rule))
      assert(counts(spark.sql(sums.format("few")))("numRowsAggregated") == 0)
      val _ = assertSameAnswer(sums.format("few"))
    }
  }

  test("a sample is of the partitions that are read") {
    val folder = Files.createTempDirectory("firesteel-parted").toString
    spark.table("distinct").selectExpr("l", "v", "v % 4 AS part").write.mode("append")
      .partitionBy("part").parquet(folder)
    spark.read.parquet(folder).createOrReplaceTempView("files")
    def sql(part: Int) = s"SELECT l, count(*), sum(v) FROM files WHERE part = $part GROUP BY l"
    assert(fired(sql(3)) == Seq(rule))
    val _ = assertSameAnswer(sql(3))
    // A failure in a partition has the same effect as without a sample.
    val _ = assertSameAnswer(sql(3).replace("part = 3", "part > 2 AND 1 DIV (part - 1) = 0"))
    // The estimated size is zero.
    assert(fired(sql(7)).isEmpty)
    val bytes = spark.table("files").inputFiles.map { file =>
      Files.size(Paths.get(new URI(file)))
    }.sum
    withConf(
      ShuffleConf.SAMPLE_ROWS.key -> "4002",
      ShuffleConf.LOCAL_AGGREGATE_SAMPLE_MIN_SIZE.key -> (bytes / 6)) {
      assert(fired(sql(2)).isEmpty)
      assert(fired("SELECT l, count(*) FROM files GROUP BY l") == Seq(rule))
    }
  }

  test("an argument that may fail, and that a function does not compute for each row") {
    spark.sql("SELECT id DIV 2 AS l, id % 2 AS place, 1 - id % 2 AS v FROM range(0, 8000, 1, 1)")
      .write.saveAsTable("pairs")
    withConf(ShuffleConf.DISTINCT_VALUE_RATE.key -> 0) {
      Seq("first(1 DIV v)", "any_value(1 DIV v)", "max_by(1 DIV v, -place)").foreach { call =>
        val sql = s"SELECT l, $call FROM pairs GROUP BY l"
        assert(!fired(sql).contains(rule), sql)
        val _ = assertSameOutcome(sql)
      }
      assert(fired("SELECT l, max(2 DIV (v + 1)) FROM pairs GROUP BY l") == Seq(rule))
    }
  }

  test("errors in a sample do not change the errors of the query") {
    Seq(
      "SELECT l, sum(CAST(s AS INT)) FROM distinct GROUP BY l",
      "SELECT l, count(*) FROM distinct WHERE CAST(s AS INT) > 0 GROUP BY l",
      "SELECT l % 1, sum(9223372036854775807 - v + v) FROM distinct GROUP BY 1"
    ).foreach { sql =>
      withConf(ShuffleConf.DISTINCT_VALUE_RATE.key -> 0) {
        def condition: String = intercept[Exception](spark.sql(sql).collect()) match {
          case e: SparkThrowable => e.getCondition
          case other => other.getMessage
        }
        assert(condition == stock(condition), sql)
      }
    }
  }
}
