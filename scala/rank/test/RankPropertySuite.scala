package io.firesteel.rank

import io.firesteel.testkit.{RandomQueries, RandomTables, TestSize}
import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf
import org.scalacheck.{Gen, Prop}
import org.scalatest.Assertion

/** Random rank queries on random tables: the answer is Spark's, and there is always a decision. */
class RankPropertySuite extends RankSuite with RandomQueries {

  private val collated = "v3 COLLATE UTF8_LCASE"

  private val keys: Gen[Seq[String]] =
    Gen.choose(
      0,
      2).flatMap(Gen.pick(_, "k1", "k2", "k3", "k1 + 1", "upper(k2)", collated).map(_.toSeq))

  private val orders: Gen[Seq[(String, String)]] = for {
    count <- Gen.choose(1, 2)
    columns <- Gen.pick(count, "v1", "v2", "v3", "abs(v2)", "k3", "substr(v3, 1, 8)", collated)
    directions <- Gen.listOfN(count, Gen.oneOf("ASC", "DESC"))
    nulls <- Gen.listOfN(count, Gen.oneOf("", " NULLS FIRST", " NULLS LAST"))
  } yield columns.toSeq.zip(directions).zip(nulls).map { case ((c, d), n) => c -> s"$d$n" }

  private val conditions: Gen[String] = {
    val n = Gen.choose(-1, 12)
    val one: Gen[String] = Gen.oneOf(
      n.map(i => s"r <= $i"),
      n.map(i => s"r < $i"),
      n.map(i => s"r = $i"),
      n.map(i => s"$i >= r"),
      n.map(i => s"$i > r"),
      Gen.zip(n, n).map { case (a, b) => s"r BETWEEN $a AND $b" },
      Gen.zip(n, n).map { case (a, b) => s"r IN ($a, $b)" },
      Gen.zip(n, n).map { case (a, b) => s"(r <= $a OR r = $b)" },
      n.map(i => s"r >= $i")
    )
    Gen.frequency(
      4 -> one,
      1 -> Gen.zip(one, one).map { case (a, b) => s"$a AND $b" },
      1 -> one.map(c => s"$c AND v1 > 0"))
  }

  private val paths: Gen[Seq[(String, Any)]] = for {
    adaptive <- Gen.oneOf(true, false)
    wholeStage <- Gen.oneOf(true, false)
    path <- Gen.oneOf(
      Nil,
      Seq(RankConf.MAX_TASK_MEMORY.key -> 1),
      Seq(RankConf.SAMPLE_ROWS.key -> 5, RankConf.MAX_NEW_KEYS.key -> 0.3))
  } yield Seq(
    SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive,
    SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> wholeStage) ++ path

  private case class Case(
      rows: Seq[Row],
      function: String,
      keys: Seq[String],
      orders: Seq[(String, String)],
      condition: String,
      settings: Seq[(String, Any)]) {

    def sql: String = {
      val partition = if (keys.isEmpty) "" else keys.mkString("PARTITION BY ", ", ", "")
      // ROW_NUMBER may choose any of several equal rows: compare the columns in which they are
      // equal.
      val equalIn = (keys ++ orders.map(_._1)).zipWithIndex.map { case (e, i) =>
        // 0.0 equals -0.0: adding 0.0 makes both the same.
        if (isText(e)) s"$e AS c$i" else s"$e + 0 AS c$i"
      }
      val columns = if (function == "row_number") equalIn else equalIn :+ "id"
      s"""SELECT ${columns.mkString(", ")}, r FROM (SELECT *, $function() OVER ($partition
         |ORDER BY ${orders.map { case (e, how) => s"$e $how" }.mkString(
          ", ")}) AS r FROM random_rows) WHERE $condition""".stripMargin
    }

    private def isText(e: String): Boolean = Seq("k2", "v3").exists(e.contains)
  }

  private val cases: Gen[Case] = for {
    rows <- RandomTables.rows(60)
    function <- Gen.oneOf("row_number", "rank", "dense_rank")
    keys <- keys
    orders <- orders
    condition <- conditions
    settings <- paths
  } yield Case(rows, function, keys, orders, condition, settings)

  private val queries = TestSize.cases(20)

  private def check(queries: Int, settings: (String, Any)*): Assertion = {
    // A further predicate reads v1, in which ROW_NUMBER ties differ, so only ranks have one.
    var ranked = 0
    val property = Prop.forAllNoShrink(cases.suchThat(c =>
      c.function != "row_number" || !c.condition.contains("v1"))) { c =>
      RandomTables.createView(spark, "random_rows", c.rows)
      val theirs = sparksRows(c.sql, c.settings)
      withConf(c.settings ++ settings: _*) {
        assertDecided(c.sql, "Window ")
        if (fired(c.sql).contains("PlanTopN")) ranked += 1
        hasRows(c.sql, theirs, s"${c.settings}\n${c.rows}")
      }
    }
    checkCases(property, queries)
    assert(ranked > queries / 3, "too few of the queries are rewritten")
  }

  test("random queries on random tables have Spark's answer and a decision")(check(queries))

  test("random queries without generated code have Spark's answer and a decision")(check(
    queries / 3,
    interpreted: _*))
}
