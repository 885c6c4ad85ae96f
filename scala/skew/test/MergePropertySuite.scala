package io.firesteel.skew

import io.firesteel.testkit.{RandomQueries, RandomTables, TestSize}
import org.apache.spark.sql.{Row, SparkSessionExtensions}
import org.apache.spark.sql.internal.SQLConf
import org.scalacheck.{Gen, Prop}
import org.scalatest.Assertion

/** Random branches over random tables, with the whole room: Spark's answer, in one pass. */
class MergePropertySuite extends MergeSuite with RandomQueries {

  override protected def install(extensions: SparkSessionExtensions): Unit =
    SkewRoom.install(extensions)

  private val conditions: Gen[String] = {
    val one = Gen.oneOf(
      "k1 > 1",
      "k1 IS NULL",
      "k2 = 'a'",
      "k2 IN ('a', 'A', '')",
      "k3 > 0",
      "NOT (k3 <=> -1.5)",
      "v1 BETWEEN -1 AND 2",
      "isnan(v2)",
      "v3 LIKE 'prefix%'",
      "id % 2 = 0",
      "false",
      "k1 <> 2 AND v1 > 0",
      "(v2 > 1 OR v2 IS NULL)"
    )
    Gen.frequency(
      6 -> one,
      3 -> Gen.zip(one, one).map { case (a, b) => s"$a AND $b" },
      1 -> Gen.zip(one, one).map { case (a, b) => s"($a OR $b)" })
  }

  /** No sums of doubles: the last digit depends on the order of addition. */
  private val functions: Gen[String] = {
    val column = Gen.oneOf("k1", "k2", "k3", "v1", "v2", "v3", "id")
    val number = Gen.oneOf("k1", "id", "k1 + id", "length(v3)", "CAST(v1 AS DECIMAL(20))")
    val call = Gen.oneOf(
      Gen.const("count(*)"),
      column.map(c => s"count($c)"),
      column.map(c => s"count(DISTINCT $c)"),
      Gen.zip(column, column).map { case (a, b) => s"count(DISTINCT $a, $b)" },
      column.map(c => s"max($c)"),
      Gen.frequency(
        6 -> column.map(c => s"min($c)"),
        1 -> Gen.oneOf("min", "max").map(f => s"$f(v3 COLLATE UTF8_LCASE)")),
      number.map(n => s"sum($n)"),
      number.map(n => s"avg($n)"),
      number.map(n => s"sum(DISTINCT $n)"),
      column.map(c => s"sort_array(collect_set($c))"),
      number.map(n => s"percentile($n, 0.5)"),
      number.map(n => s"coalesce(sum($n), -1) + count(*)")
    )
    // FILTER belongs to the function: add it to calls only.
    Gen.frequency(
      4 -> call,
      1 -> Gen.zip(column, conditions).map { case (c, w) => s"count($c) FILTER (WHERE $w)" },
      1 -> Gen.zip(column, conditions).map { case (c, w) =>
        s"count(DISTINCT $c) FILTER (WHERE $w)"
      }
    )
  }

  private val branches: Gen[String] = for {
    count <- Gen.choose(1, 4)
    calls <- Gen.listOfN(count, functions)
    where <- Gen.option(conditions)
  } yield s"SELECT ${calls.zipWithIndex.map { case (f, at) => s"$f AS c$at" }.mkString(", ")} " +
    s"FROM random_rows${where.fold("")(" WHERE " + _)}"

  private case class Case(rows: Seq[Row], branches: Seq[String], settings: Seq[(String, Any)])

  private val cases: Gen[Case] = for {
    rows <- RandomTables.rows(40)
    count <- Gen.choose(2, 5)
    sqls <- Gen.listOfN(count, branches)
    adaptive <- Gen.oneOf(true, false)
    wholeStage <- Gen.oneOf(true, false)
  } yield Case(
    rows,
    sqls,
    Seq(
      SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive,
      SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> wholeStage))

  private val queries = TestSize.cases(7)

  private def check(queries: Int, settings: (String, Any)*): Assertion = {
    var merged = 0
    val property = Prop.forAllNoShrink(cases) { c =>
      RandomTables.createView(spark, "random_rows", c.rows)
      val sql = sideBySide(c.branches: _*)
      val theirs = sparksRows(sql, c.settings)
      withConf(c.settings ++ settings: _*) {
        val explained = explain(sql)
        if (explained.fired.exists(_.rule == "MergeGlobalAggregates")) merged += 1
        val decided = explained.fired.nonEmpty || explained.declined.nonEmpty ||
          scans(sql) < c.branches.size ||
          // Spark computes a branch over an empty input during optimisation.
          c.branches.exists(_.contains("false"))
        Prop(decided) :| s"no decision: $sql" &&
        hasRows(sql, theirs, s"${c.settings}\n${c.rows}")
      }
    }
    checkCases(property, queries)
    assert(merged > queries / 3, "too few of the queries are merged")
  }

  test("random aggregates side by side have Spark's answer and read their input once") {
    check(queries)
  }

  test("so they have where nothing is compiled")(check(queries / 2, interpreted: _*))
}
