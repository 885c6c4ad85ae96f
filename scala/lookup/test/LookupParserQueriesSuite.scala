package io.firesteel.lookup

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.{HybridParameterContext, NamedParameterContext, ParameterContext, PositionalParameterContext}
import org.scalatest.Assertion

/** Flink's syntax wherever a session takes a text, and wherever it stores one. */
class LookupParserQueriesSuite extends ParserSuite {

  private val query =
    "SELECT /*+ LOOKUP('table'='c', 'async'='true') */ o.id FROM o JOIN t FOR SYSTEM_TIME " +
      "AS OF o.ts AS c ON o.id = c.id"

  private val lookup = Set("LOOKUP(table=c, async=true)", "firesteel:asof:o.ts")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.range(3).selectExpr("id", "now() AS ts").createOrReplaceTempView("o")
    spark.range(1, 9).createOrReplaceTempView("t")
  }

  /** The rows are those of a join, and the analyser saw the lookup's hint and time. */
  private def assertLookup(sql: String, rows: Row*): Assertion = {
    seen = Nil
    val expected = if (rows.isEmpty) Seq(Row(1L), Row(2L)) else rows
    assertSameRows(spark.sql(sql).collect().toSeq, expected, sql)
    assert(lookup.subsetOf(seen.toSet), sql)
  }

  private def withTables[T](names: String*)(body: => T): T =
    try body
    finally names.foreach(name => spark.sql(s"DROP TABLE IF EXISTS $name"))

  test("queries, common tables, subqueries and unions") {
    assertLookup(query)
    assertLookup(s"$query ORDER BY 1;")
    assertLookup(s"WITH q AS ($query) SELECT id FROM q")
    assertLookup(s"SELECT * FROM ($query)")
    assertLookup(s"SELECT id FROM range(9) WHERE id IN ($query)")
    assertLookup(s"SELECT (SELECT max(id) FROM ($query))", Row(2L))
    assertLookup(s"$query UNION ALL SELECT 7L", Row(1L), Row(2L), Row(7L))
    assertLookup(s"FROM ($query) |> WHERE id > 1", Row(2L))
  }

  test("EXPLAIN, DESCRIBE and CACHE of a query") {
    Seq(
      s"EXPLAIN EXTENDED $query",
      s"DESCRIBE QUERY $query",
      s"CACHE TABLE cached AS $query").foreach { sql =>
      seen = Nil
      spark.sql(sql).collect()
      assert(lookup.subsetOf(seen.toSet), sql)
    }
    spark.sql("UNCACHE TABLE cached")
  }

  test("INSERT and CREATE TABLE take their rows from a lookup join") {
    withTables("copy", "made") {
      spark.sql("CREATE TABLE copy (id BIGINT) USING parquet")
      spark.sql(s"INSERT INTO copy $query")
      assert(lookup.subsetOf(seen.toSet))
      seen = Nil
      spark.sql(s"CREATE TABLE made USING parquet AS $query")
      assert(lookup.subsetOf(seen.toSet))
      assertSameRows(spark.table("made").collect().toSeq, spark.table("copy").collect().toSeq, "")
    }
  }

  test("a temporary view keeps the user's text and answers by it") {
    spark.sql(s"CREATE OR REPLACE TEMPORARY VIEW v AS $query")
    assertLookup("SELECT * FROM v")
    spark.sql(s"ALTER VIEW v AS $query WHERE o.id > 1")
    assertLookup("SELECT * FROM v", Row(2L))
  }

  test("a view of the catalog keeps the user's text, which SHOW and DESCRIBE show") {
    withTables("d") {
      spark.sql("CREATE TABLE d USING parquet AS SELECT id, id AS ts FROM range(3)")
      val body = query.replace(" o JOIN t ", " d o JOIN d ")
      spark.sql(s"CREATE OR REPLACE VIEW kept AS\n  $body")
      try {
        assertLookup("SELECT * FROM kept", Row(0L), Row(1L), Row(2L))
        val shown = spark.sql("SHOW CREATE TABLE kept").head().getString(0)
        assert(shown.contains(body))
        val described = spark.sql("DESCRIBE EXTENDED kept").where("col_name = 'View Text'")
        assert(described.head().getString(1) == body)
        spark.sql(shown.replace("kept", "again"))
        assertLookup("SELECT * FROM again", Row(0L), Row(1L), Row(2L))
      } finally Seq("kept", "again").foreach(view => spark.sql(s"DROP VIEW IF EXISTS $view"))
    }
  }

  test("a SQL function keeps the user's text") {
    val largest = s"SELECT max(id) FROM ($query)"
    spark.sql(s"CREATE TEMPORARY FUNCTION top() RETURNS BIGINT RETURN ($largest)")
    assertLookup("SELECT top()", Row(2L))
    spark.sql(s"CREATE TEMPORARY FUNCTION rows() RETURNS TABLE (id BIGINT) RETURN $query")
    assertLookup("SELECT id FROM rows()")
  }

  test("EXECUTE IMMEDIATE, with and without parameters") {
    val quoted = query.replace("'", "\\'")
    assertLookup(s"EXECUTE IMMEDIATE '$quoted'")
    assertLookup(s"EXECUTE IMMEDIATE '$quoted WHERE o.id > ?' USING 1", Row(2L))
    assertLookup(s"EXECUTE IMMEDIATE '$quoted WHERE o.id > :least' USING 1 AS least", Row(2L))
  }

  test("a script's statements, conditions and loops") {
    assertLookup(s"BEGIN $query; END")
    val largest = s"SELECT max(id) FROM ($query)"
    assertLookup(s"BEGIN DECLARE n BIGINT; SET n = ($largest); SELECT n; END", Row(2L))
    assertLookup(s"BEGIN IF EXISTS ($query) THEN SELECT 1L; END IF; END", Row(1L))
    assertLookup(
      s"BEGIN DECLARE n BIGINT DEFAULT 0; FOR r AS $query DO SET n = n + r.id; END FOR; " +
        "SELECT n; END",
      Row(3L))
  }

  test("parameters inside and outside of the hint, by name and by position") {
    val named = "SELECT /*+ LOOKUP('table'='c', 'async'=:async) */ o.id, :x FROM o JOIN t FOR " +
      "SYSTEM_TIME AS OF o.ts AS c ON o.id = c.id WHERE o.id > :least"
    def rows(sql: String, args: Any*) = spark.sql(sql, args.toArray).collect().toSeq
    val values = Map[String, Any]("async" -> "true", "x" -> "it's ${y} :x ?", "least" -> 1)
    assertSameRows(spark.sql(named, values).collect().toSeq, Seq(Row(2L, "it's ${y} :x ?")), "")
    assert(lookup.subsetOf(seen.toSet))
    seen = Nil
    val positional = named.replaceAll(":(async|x|least)", "?")
    assertSameRows(rows(positional, "true", "\uD83D\uDE00", 1), Seq(Row(2L, "\uD83D\uDE00")), "")
    assert(lookup.subsetOf(seen.toSet))
    // Positions in the text are counted in code points, and this one stands before all of them.
    assertSameRows(
      rows(positional.replace("SELECT ", "/* \uD83D\uDE00 */ SELECT "), "true", "x", 1),
      Seq(Row(2L, "x")),
      "")
    val joined = positional.replace("?) */", "'tr' ?) */")
    assertSameRows(rows(joined, "ue", "x", 1), Seq(Row(2L, "x")), "")
    assert(seen.forall(lookup))
  }

  test("the plan with parameters is the plan of the text with their values in it") {
    def plan(sql: String, context: ParameterContext) =
      show(parser.parsePlanWithParameters(sql, context))
    val sql = query.replace("'true'", "'%s'") + " WHERE o.id > %s"
    val expected = show(parser.parsePlan(sql.format("true", "1")))
    val values = Seq(Literal("true"), Literal(1))
    assert(plan(
      sql.replace("'%s'", ":a").replace("%s", ":b"),
      NamedParameterContext(Map("a" -> values(0), "b" -> values(1)))) == expected)
    val positional = sql.replace("'%s'", "?").replace("%s", "?")
    assert(plan(positional, PositionalParameterContext(values)) == expected)
    assert(plan(positional, HybridParameterContext(values, Seq("", ""))) == expected)
    assert(plan(sql.format("true", "1"), NamedParameterContext(Map.empty)) == expected)
    withConf("spark.sql.legacy.parameterSubstitution.constantsOnly" -> true) {
      val bound = spark.sql(query + " WHERE o.id > :least", Map("least" -> 1))
      assertSameRows(bound.collect().toSeq, Seq(Row(2L)), "")
    }
  }

  test("a parameter alone as the time is Spark's time travel") {
    val sql = "SELECT * FROM t FOR SYSTEM_TIME AS OF :time AS c"
    val context = NamedParameterContext(Map("time" -> Literal("2024-01-01")))
    assert(timesOf(parser.parsePlanWithParameters(sql, context)) == Seq("2024-01-01"))
  }

  test("variables of the text are replaced first") {
    spark.sql("SET dimension=c")
    spark.sql("SET clause=FOR SYSTEM_TIME AS OF o.ts")
    assertLookup(query.replace("'c'", "'${dimension}'"))
    assertLookup(query.replace("FOR SYSTEM_TIME AS OF o.ts", "${clause}"))
    withConf("spark.sql.variable.substitute" -> false) {
      assert(hintsOf(parser.parsePlan(query.replace("'c'", "'${dimension}'"))) ==
        Seq("LOOKUP(table=${dimension}, async=true)"))
    }
  }
}
