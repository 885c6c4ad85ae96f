package io.firesteel.lookup

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.parser.{HybridParameterContext, NamedParameterContext, ParameterContext, ParserInterface, PositionalParameterContext}

/** Parameters, which parsers put into the text since Spark 4.1. */
class LookupParserParametersSuite extends LookupQuerySuite {

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

  test("an error among parameters is about the user's text") {
    val parameters = NamedParameterContext(Map("value" -> Literal(1)))
    def of(parser: ParserInterface, sql: String) =
      error(parser.parsePlanWithParameters(sql, parameters))
    val ours = of(parser, s"$query AND :value FROM")
    assert(ours.command.contains(s"$query AND :value FROM"))
  }
}
