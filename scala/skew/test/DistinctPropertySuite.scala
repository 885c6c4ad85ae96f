package io.firesteel.skew

import io.firesteel.testkit.{RandomQueries, RandomTables, TestSize}
import org.apache.spark.sql.Row
import org.apache.spark.sql.internal.SQLConf
import org.scalacheck.{Gen, Prop}
import org.scalatest.Assertion

/** Random aggregates on random tables: Spark's answer, and a decision in every case. */
class DistinctPropertySuite extends SkewSuite with RandomQueries {

  private val filter: Gen[String] = Gen.frequency(
    3 -> Gen.const(""),
    1 -> Gen.oneOf("v1 > 0", "k2 = 'a'", "v2 IS NULL", "id % 2 = 0", "false")
      .map(f => s" FILTER (WHERE $f)"))

  private val distinct: Gen[String] = for {
    call <- Gen.oneOf(
      Gen.oneOf(
        "k1",
        "k2",
        "k3",
        "v1",
        "v2",
        "v3",
        "k1, v3",
        "k3, v1, v2",
        "v1 % 3",
        "upper(k2)",
        "v3 COLLATE UTF8_LCASE")
        .map(v => s"count(DISTINCT $v)"),
      // No extremes: sums of doubles, which averages are, would depend on the order.
      Gen.oneOf("k1", "v1 % 100", "CAST(k1 AS DECIMAL(25, 3))", "CAST(id % 4 AS DOUBLE)")
        .flatMap(v => Gen.oneOf("sum", "avg").map(f => s"$f(DISTINCT $v)"))
    )
    filter <- filter
  } yield call + filter

  private val ordinary: Gen[String] = for {
    call <- Gen.oneOf(
      "count(*)",
      "sum(k1)",
      "max(v3)",
      "min(k2)",
      "avg(id)",
      "size(collect_list(v1))",
      "sort_array(collect_set(k1))",
      "bit_xor(id)",
      "min(v3 COLLATE UTF8_LCASE)",
      "max_by(v3 COLLATE UNICODE, id)"
    )
    filter <- if (call.contains("(collect")) Gen.const("") else filter
  } yield call + filter

  private val grouping: Gen[(Seq[String], String)] = for {
    keys <- Gen.choose(0, 2).flatMap(Gen.pick(_, "k1", "k2", "k3", "id % 2").map(_.toSeq))
    form <- Gen.frequency(4 -> Gen.const(""), 1 -> Gen.oneOf("CUBE", "ROLLUP"))
  } yield
    if (keys.isEmpty) (keys, "")
    else (
      keys,
      s"GROUP BY ${if (form.isEmpty) keys.mkString(", ") else keys.mkString(s"$form(", ", ", ")")}")

  /**
   * Operators below ours in generated code: they stop after each row, emit several rows for one, or
   * have branches.
   */
  private val source: Gen[String] = Gen.frequency(
    4 -> Gen.const("random_rows"),
    1 -> Gen.const("random_rows LATERAL VIEW explode(array(1, 2, 3)) AS copy"),
    1 -> Gen.const("(SELECT * FROM random_rows UNION ALL SELECT * FROM random_rows WHERE id > 3)"),
    1 -> Gen.const(
      "(SELECT /*+ BROADCAST(r) */ l.* FROM random_rows l JOIN random_rows r ON l.k2 = r.k2)"),
    1 -> Gen.const("(SELECT DISTINCT id, k1, k2, k3, v1, v2, v3 FROM random_rows)")
  )

  /** @param isAsked whether Spark keeps the `DISTINCT`s: it removes those of an empty input */
  private case class Case(
      rows: Seq[Row],
      sql: String,
      isAsked: Boolean,
      settings: Seq[(String, Any)])

  private val cases: Gen[Case] = for {
    rows <- RandomTables.rows(80)
    keyed <- grouping
    from <- source
    distincts <- Gen.choose(1, 4).flatMap(Gen.listOfN(_, distinct))
    others <- Gen.choose(0, 2).flatMap(Gen.listOfN(_, ordinary))
    having <- Gen.frequency(4 -> Gen.const(""), 1 -> Gen.const(" HAVING count(DISTINCT v1) > 1"))
    way <- Gen.oneOf(ways)
    phases <- Gen.oneOf("AUTO", "TWO_PHASE")
    adaptive <- Gen.oneOf(true, false)
    wholeStage <- Gen.oneOf(true, false)
  } yield {
    val columns = (keyed._1 ++ distincts ++ others).zipWithIndex.map { case (c, i) => s"$c AS c$i" }
    Case(
      rows,
      s"SELECT ${columns.mkString(", ")} FROM $from ${keyed._2}$having",
      having.nonEmpty || distincts.exists(!_.endsWith("(WHERE false)")),
      way ++ Seq(
        SkewConf.PHASES.key -> phases,
        SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> adaptive,
        SQLConf.WHOLESTAGE_CODEGEN_ENABLED.key -> wholeStage,
        // The values include extremes; other tests cover their sums.
        SQLConf.ANSI_ENABLED.key -> false
      )
    )
  }

  private val queries = TestSize.cases(6)

  private def check(queries: Int, settings: (String, Any)*): Assertion = {
    var fires = 0
    val property = Prop.forAllNoShrink(cases) { c =>
      RandomTables.createView(spark, "random_rows", c.rows)
      val theirs = sparksRows(c.sql, c.settings)
      withConf(c.settings ++ settings: _*) {
        val decided = explain(c.sql)
        if (decided.fired.nonEmpty) fires += 1
        Prop(
          decided.fired.nonEmpty || decided.declined.nonEmpty || c.rows.isEmpty || !c.isAsked) :| s"undecided ${c.sql}" &&
        hasRows(c.sql, theirs, s"${c.settings}\n${c.rows}")
      }
    }
    checkCases(property, queries)
    assert(fires > queries / 2, "most queries must fire")
  }

  test("random aggregates on random tables have Spark's answer and a decision")(check(queries))

  test("so they have where nothing is compiled") {
    check(queries / 2, interpreted: _*)
  }
}
