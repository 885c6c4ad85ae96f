package io.firesteel.skew

import io.firesteel.testkit.{RowBag, TestSize}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.internal.SQLConf
import org.scalacheck.{Gen, Prop, Test}
import org.scalacheck.rng.Seed

/**
 * Enough rows for a column to give its values codes, to leave the codes, or to stop looking for
 * duplicates.
 */
class CodedValuesSuite extends SkewSuite {

  /** Otherwise adaptive execution would bring small blocks to one task, whatever their bucket. */
  private val apart = Seq(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false)

  /** A hash of the row, below `limit`. */
  private def below(limit: Int, seed: Int): String = s"pmod(xxhash64(id, $seed), $limit)"

  // Two of the four tasks see values of one kind and two of another. So tasks may send values in
  // different ways. Equal values must still meet.
  private def column(seed: Int): Gen[String] = for {
    first <- Gen.oneOf(1, 2, 50, 100, 1000, 100000)
    second <- Gen.oneOf(1, 60, 100, 5000, 100000)
    scale <- Gen.oneOf("1", "-1", "1000003", "70368744177664")
    made <- Gen.oneOf[String => String](
      (v: String) => v,
      (v: String) => s"CAST($v % 100000 AS INT)",
      (v: String) => s"concat('item-', CAST($v AS STRING))",
      (v: String) => s"concat(repeat('wide ', 60), CAST($v AS STRING))",
      (v: String) => s"concat(IF(id % 97 = 0, repeat('wide ', 60), ''), CAST($v AS STRING))",
      (v: String) => s"CAST($v AS DOUBLE) / 3",
      (v: String) => s"CAST($v AS DECIMAL(30, 2))"
    )
    absent <- Gen.oneOf("false", s"${below(4, seed + 1)} = 0", "id % 10000 < 3000", "id >= 0")
  } yield s"IF($absent, NULL, ${made(s"IF(id < 20000, ${below(first, seed)}, ${below(second, seed)}) * $scale")})"

  private val key: Gen[String] = for {
    groups <- Gen.oneOf(1, 3, 70, 700, 20000)
    made <- Gen.oneOf[String => String](
      (k: String) => k,
      (k: String) => s"$k * 1000003",
      (k: String) => s"concat('group ', CAST($k AS STRING))")
  } yield made(below(groups, 1))

  private case class Case(table: String, sql: String, settings: Seq[(String, Any)])

  private val cases: Gen[Case] = for {
    key <- key
    columns <- Gen.choose(2, 4).flatMap(n =>
      Gen.sequence[Seq[String], String]((1 to n).map(i =>
        column(100 * i))))
    summed <- Gen.oneOf("", ", sum(id) AS s")
    cap <- Gen.oneOf(Nil, Seq(1), Seq(200000), Seq(2000000))
    sample <- Gen.oneOf(1000, 5000, 100000)
    partitions <- Gen.oneOf(1, 3, 40)
  } yield {
    val named = columns.zipWithIndex.map { case (c, i) => s"$c AS c$i" }
    val counts = columns.indices.map(i => s"count(DISTINCT c$i) AS d$i")
    Case(
      s"SELECT id, $key AS k, ${named.mkString(", ")} FROM range(0, 40000, 1, 4)",
      s"SELECT k, ${counts.mkString(", ")}$summed FROM coded_rows GROUP BY k",
      apart ++ Seq(
        SkewConf.SAMPLE_VALUES.key -> sample,
        SQLConf.SHUFFLE_PARTITIONS.key -> partitions) ++
        cap.map(SkewConf.MAX_TASK_MEMORY.key -> _)
    )
  }

  test("values that tasks send in different ways are counted once") {
    val property = Prop.forAllNoShrink(cases) { c =>
      spark.sql(c.table).createOrReplaceTempView("coded_rows")
      withConf(c.settings: _*) {
        val isFired = fired(c.sql) == Seq("PlanDistinctAggregate")
        val ours = RowBag.of(spark.sql(c.sql).collect().toSeq)
        val theirs = RowBag.of(stock(spark.sql(c.sql).collect().toSeq))
        Prop(isFired && ours == theirs) :| s"${c.table}\n${c.sql}\n${c.settings}"
      }
    }
    val queries = TestSize.cases(3)
    val seed = Seed(TestSize.seed(20261122L))
    val parameters = Test.Parameters.default
      .withMinSuccessfulTests(queries)
      .withInitialSeed(seed)
    val result = Test.check(parameters, property)
    assert(result.passed, result.status)
  }

  test("a value that one task sends with a code and another without is counted once") {
    val value = "IF(id < 20000 OR id % 2 = 0, pmod(xxhash64(id, 7), 100), id)"
    val columns =
      Seq(value, s"$value * 1000003", s"CAST($value AS STRING)", s"CAST($value AS DOUBLE)")
    val named = columns.zipWithIndex.map { case (c, i) => s"$c AS c$i" }
    spark.sql(s"SELECT id % 70 AS k, ${named.mkString(", ")} FROM range(0, 40000, 1, 4)")
      .createOrReplaceTempView("coded_rows")
    val counts = columns.indices.map(i => s"count(DISTINCT c$i)").mkString(", ")
    ways.foreach { way =>
      withConf(apart ++ way: _*)(assertSameAnswer(s"SELECT k, $counts FROM coded_rows GROUP BY k"))
    }
  }

  test("a table does not depend on the order of the table that fills it") {
    // If it did, each insert would scan all entries.
    def table(level: Int): DistinctNumbers = new DistinctNumbers(identity, Hashes.salt(level))
    for (level <- 0 to 7; other <- 0 to 7 if level != other) {
      val (one, another) = (table(level), table(other))
      val inOrder = (0 until 5000).map(_ * 37L).sortBy(n => Hashes.slot(one.hash(1, n), 20))
      val places = inOrder.map(n => Hashes.slot(another.hash(1, n), 20))
      val rises = places.zip(places.tail).count { case (a, b) => a < b }
      assert(rises > 2000 && rises < 3000, s"levels $level and $other")
    }
  }

  test("a value of all groups is written once, not once for each group") {
    spark.sql(
      "SELECT id % 500 AS k, (id * 31 % 97) * 1000003 AS a, CAST(id * 17 % 89 AS STRING) AS b " +
        "FROM range(0, 400000, 1, 2)").createOrReplaceTempView("coded_rows")
    val sql = "SELECT k, count(DISTINCT a), count(DISTINCT b) FROM coded_rows GROUP BY k"
    withConf(apart :+ (SQLConf.SHUFFLE_PARTITIONS.key -> 4): _*) {
      val plan = spark.sql(sql)
      assert(plan.collect().length == 500)
      val sizes = plan.queryExecution.executedPlan.collect { case exchange: ShuffleExchangeExec =>
        exchange.metrics("shuffleBytesWritten").value
      }
      // Each task sends 93,000 pairs: a byte for each would be more.
      assert(sizes.size == 2 && sizes.last < 60000L, s"bytes written: $sizes")
    }
  }
}
