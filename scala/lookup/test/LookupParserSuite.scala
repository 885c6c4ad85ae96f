package io.firesteel.lookup

import io.firesteel.core.parse.AsDelegate

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation
import org.apache.spark.sql.execution.command.DescribeQueryCommand

/** The plans of texts in Flink's syntax, and the texts that stay unchanged. */
class LookupParserSuite extends ParserSuite {

  private val flink =
    """SELECT /*+ LOOKUP('table'='c', 'shuffle'='true', 'async'='true',
      |                  'retry-predicate'='lookup_miss', 'retry-strategy'='fixed_delay',
      |                  'fixed-delay'='10s', 'max-attempts'='3') */ o.id, c.country
      |FROM orders AS o JOIN customers FOR SYSTEM_TIME AS OF o.proc_time AS c
      |  ON o.customer_id = c.id""".stripMargin

  private def join(clause: String): String =
    s"SELECT o.id, c.country FROM orders o JOIN customers $clause ON o.customer_id = c.id"

  private def hinted(hint: String): String = s"SELECT /*+ $hint */ * FROM o JOIN c ON o.id = c.id"

  Seq[(String, String => Any)](
    "parsePlan" -> parser.parsePlan,
    "parseQuery" -> parser.parseQuery,
    "parseExpression" -> (sql => parser.parseExpression(s"($sql)"))
  ).foreach { case (name, parse) =>
    test(s"$name takes Flink's text verbatim, which Spark refuses") {
      error(name match {
        case "parseExpression" => stockParser.parseExpression(s"($flink)")
        case "parseQuery" => stockParser.parseQuery(flink)
        case _ => stockParser.parsePlan(flink)
      })
      parse(flink)
    }
  }

  test("a hint's pairs become comparisons of literals, and the time a marked literal") {
    val plan = parser.parsePlan(flink)
    assert(hintsOf(plan) == Seq(
      "LOOKUP(table=c, shuffle=true, async=true, retry-predicate=lookup_miss, " +
        "retry-strategy=fixed_delay, fixed-delay=10s, max-attempts=3)"))
    assert(timesOf(plan) == Seq("as of o.proc_time"))
  }

  Seq(
    "FOR SYSTEM_TIME AS OF o.proc_time AS c" -> "o.proc_time",
    "FOR SYSTEM_TIME AS OF o.proc_time c" -> "o.proc_time",
    "FOR SYSTEM_TIME AS OF o.proc_time" -> "o.proc_time",
    "for system_time as of o.proc_time as c" -> "o.proc_time",
    "SYSTEM_TIME AS OF proc_time AS c" -> "proc_time",
    "TIMESTAMP AS OF o.ts AS c" -> "o.ts",
    "FOR TIMESTAMP AS OF o.ts AS c" -> "o.ts",
    "FOR SYSTEM_TIME AS OF a.b.c.ts AS c" -> "a.b.c.ts",
    "FOR SYSTEM_TIME AS OF `o`.`proc time` AS c" -> "`o`.`proc time`",
    "FOR SYSTEM_TIME AS OF `it's \\ so` AS c" -> "`it's \\ so`",
    "FOR SYSTEM_TIME AS OF `a``b` `c`" -> "`a``b`",
    "FOR SYSTEM_TIME AS OF o.timestamp AS c" -> "o.timestamp",
    "FOR SYSTEM_TIME AS OF time AS c" -> "time",
    "FOR SYSTEM_TIME AS OF timestamp AS c" -> "timestamp",
    "FOR SYSTEM_TIME AS OF CAST(o.ts AS TIMESTAMP) AS c" -> "CAST(o.ts AS TIMESTAMP)",
    "FOR SYSTEM_TIME AS OF date_trunc('DAY', o.ts) AS c" -> "date_trunc('DAY', o.ts)",
    "FOR SYSTEM_TIME AS OF db.f(g(ts), 1) AS c" -> "db.f(g(ts), 1)",
    "FOR SYSTEM_TIME AS OF timestampadd(MINUTE, -5, o.ts) c" -> "timestampadd(MINUTE, -5, o.ts)",
    "FOR SYSTEM_TIME AS OF o.ts::timestamp AS c" -> "o.ts::timestamp",
    "FOR/* a */SYSTEM_TIME -- b\n AS OF o. /* c */ ts AS c" -> "o. /* c */ ts"
  ).foreach { case (clause, time) =>
    test(s"a time with a column is marked: $clause") {
      assert(timesOf(parser.parsePlan(join(clause))) == Seq(s"as of $time"))
    }
  }

  Seq(
    "FOR SYSTEM_TIME AS OF current_timestamp() AS c",
    "FOR SYSTEM_TIME AS OF current_timestamp AS c",
    "TIMESTAMP AS OF current_date c",
    "FOR SYSTEM_TIME AS OF '2024-01-01' AS c",
    "FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01' AS c",
    "FOR SYSTEM_TIME AS OF DATE'2024-01-01' - INTERVAL 1 DAY AS c",
    "FOR SYSTEM_TIME AS OF CAST('2024-01-01' AS TIMESTAMP) AS c",
    "FOR SYSTEM_TIME AS OF date_trunc('DAY', now()) AS c",
    "FOR SYSTEM_TIME AS OF make_timestamp(year => 2024) AS c",
    "FOR SYSTEM_TIME AS OF (SELECT max(ts) FROM t) AS c",
    "FOR SYSTEM_TIME AS OF coalesce((SELECT max(t.ts) FROM t), now()) AS c",
    "FOR SYSTEM_TIME AS OF :time AS c",
    "FOR SYSTEM_TIME AS OF f(:time) AS c",
    "FOR SYSTEM_TIME AS OF ? AS c",
    "FOR SYSTEM_VERSION AS OF 3 AS c",
    "VERSION AS OF 'v1' AS c",
    "FOR VERSION AS OF o AS c",
    // Expressions other than a column, a function or a cast of one.
    "FOR SYSTEM_TIME AS OF o.ts - INTERVAL 1 HOUR AS c",
    "FOR SYSTEM_TIME AS OF o.ts:: AS c",
    "FOR SYSTEM_TIME AS OF o.ts::bigint AS c",
    "FOR SYSTEM_TIME AS OF (o.ts) AS c",
    "FOR SYSTEM_TIME AS OF o.ts[0] AS c",
    "FOR SYSTEM_TIME AS OF f(o.ts) OVER () AS c",
    "FOR SYSTEM_TIME AS OF CASE WHEN o.a THEN o.ts END AS c",
    "FOR SYSTEM_TIME AS OF f(o.ts AS c",
    "FOR SYSTEM_TIME AS OF AS c",
    "FOR SYSTEM_TIME AS OF",
    "FOR SYSTEM_TIME AS o.ts"
  ).foreach { clause =>
    test(s"a time without a column, or unknown, stays Spark's, error and all: $clause") {
      val sql = join(clause)
      assert(outcome(parser.parsePlan(sql)) == outcome(stockParser.parsePlan(sql)))
    }
  }

  Seq(
    "SELECT timestamp AS of FROM t",
    "SELECT timestamp AS of, a.b FROM t JOIN (SELECT a.b FROM c) d",
    "SELECT x::timestamp AS of FROM t",
    "FROM timestamp AS of JOIN (SELECT a.b FROM c)",
    "SELECT 'FOR SYSTEM_TIME AS OF o.ts', \"/*+ LOOKUP('a'='b') */\" FROM t",
    "SELECT 1 /* FOR SYSTEM_TIME AS OF o.ts */ -- /*+ LOOKUP('a'='b') */\n FROM t",
    "SELECT `/*+ LOOKUP('a'='b') */`, lookup('a'='b') FROM lookup",
    "SELECT /*+ REPARTITION(3), broadcast(a) */ * FROM t",
    "SET x = /*+ LOOKUP('a'='b') */ FOR SYSTEM_TIME AS OF o.ts",
    "EXECUTE IMMEDIATE 'SELECT /*+ LOOKUP(''a''=''b'') */ 1'",
    "SELECT /*+ LOOKUP(('table'='c'), ('async'='true')) */ * FROM t",
    "SELECT /*+ LOOKUP */ * FROM t",
    "SELECT /*+ LOOKUP() */ * FROM t",
    "SELECT /*+ LOOKUP('table') */ * FROM t",
    "SELECT /*+ LOOKUP(c, 3) */ * FROM t",
    "SELECT /*+ LOOKUP(table='c') */ * FROM t",
    "SELECT /*+ LOOKUP('table'=) */ * FROM t",
    "SELECT /*+ LOOKUP('table'<=>'c') */ * FROM t",
    "SELECT /*+ LOOKUP('table'='c' */ * FROM t",
    "SELECT /*+ LOOKUP(, 'table'>'c') */ * FROM t",
    "SELECT /*+ BROADCAST('table'='c') */ * FROM t"
  ).foreach { sql =>
    test(s"Spark's plan or error: $sql") {
      assert(outcome(parser.parsePlan(sql)) == outcome(stockParser.parsePlan(sql)))
    }
  }

  Seq(
    "LOOKUP('table'='c')" -> "LOOKUP(table=c)",
    "lookup('table'='c')" -> "lookup(table=c)",
    "LOOKUP('table'=='c')" -> "LOOKUP(table=c)",
    "LOOKUP(\n 'table' = -- the\n 'c' /* , */, 'x'\n='true'\n)" -> "LOOKUP(table=c, x=true)",
    "LOOKUP(\"table\"=\"c\")" -> "LOOKUP(table=c)",
    "LOOKUP(r'table'=R\"c\\d\")" -> "LOOKUP(table=c\\d)",
    "LOOKUP('table'='c)', 'x'='a,b=c(')" -> "LOOKUP(table=c), x=a,b=c()",
    "LOOKUP('table'='c', 'capacity'=10)" -> "LOOKUP(table=c, capacity=10)",
    "LOOKUP('async'='true', 'async'='false')" -> "LOOKUP(async=true, async=false)",
    "LOOKUP('täble'='\uD83D\uDE00', 'x'='y')" -> "LOOKUP(täble=\uD83D\uDE00, x=y)",
    "LOOKUP('table'='c', ('x'='y'), 'z')" -> "LOOKUP(table=c, x=y, z)",
    "LOOKUP('table'='c', x, 'y'='z')" -> "LOOKUP(table=c, 'x, y=z)"
  ).foreach { case (hint, seen) =>
    test(s"a hint arrives: $hint") {
      assert(hintsOf(parser.parsePlan(hinted(hint))) == Seq(seen))
    }
  }

  test("other hints of the same comment are as they were, and several lookups are several hints") {
    Seq(
      "BROADCAST(x), LOOKUP('table'='c')",
      "BROADCAST(x) LOOKUP('table'='c')",
      "LOOKUP('table'='c') BROADCAST(x)").foreach { hint =>
      val hints = hintsOf(parser.parsePlan(hinted(hint))).toSet
      assert(hints == Set("BROADCAST('x)", "LOOKUP(table=c)"), hint)
    }
    Seq(
      "LOOKUP('table'='c'), LOOKUP('table'='d')",
      "LOOKUP('table'='c') */ /*+ LOOKUP('table'='d')").foreach { hint =>
      val hints = hintsOf(parser.parsePlan(hinted(hint)))
      assert(hints.sorted == Seq("LOOKUP(table=c)", "LOOKUP(table=d)"), hint)
    }
  }

  test("a double-quoted text is a name where the session says so") {
    val names = Seq(
      "spark.sql.ansi.enabled" -> true,
      "spark.sql.ansi.doubleQuotedIdentifiers" -> true)
    withConf(names: _*) {
      val hint = hinted("LOOKUP(\"table\"='c')")
      assert(outcome(parser.parsePlan(hint)) == outcome(stockParser.parsePlan(hint)))
      val plan = parser.parsePlan(join("FOR SYSTEM_TIME AS OF \"o\".\"ts\" \"c\""))
      assert(timesOf(plan) == Seq("as of \"o\".\"ts\""))
    }
    val time = join("FOR SYSTEM_TIME AS OF \"2024-01-01\" AS c")
    assert(outcome(parser.parsePlan(time)) == outcome(stockParser.parsePlan(time)))
  }

  test("literals are not unescaped twice, nor where the session does not unescape") {
    val hint = hinted("LOOKUP('table'='a\\\\b\\'c')")
    assert(hintsOf(parser.parsePlan(hint)) == Seq("LOOKUP(table=a\\b'c)"))
    withConf("spark.sql.parser.escapedStringLiterals" -> true) {
      assert(hintsOf(parser.parsePlan(hint)) == Seq("LOOKUP(table=a\\\\b\\'c)"))
      val plan = parser.parsePlan(join("FOR SYSTEM_TIME AS OF o.ts AS c"))
      assert(timesOf(plan) == Seq("as of o.ts"))
    }
  }

  test("the SLL and the LL mode of the grammar agree") {
    // Spark parses a second time, in the slow mode, what the fast mode refuses.
    val deep = (1 to 40).map(i => s"(SELECT $i AS a)").mkString(" UNION ALL ")
    val sql = s"$flink WHERE o.id IN ($deep)"
    assert(timesOf(parser.parsePlan(sql)) == Seq("as of o.proc_time"))
    assert(error(parser.parsePlan(s"$sql )")).getCondition == "PARSE_SYNTAX_ERROR")
  }

  test("the delegate parses every text: one without lookups as it is, others as plain text") {
    var texts = Seq.empty[String]
    val listening = new LookupParser(ListeningParser(stockParser, text => texts :+= text))
    val strange = Seq("SELECT ${x} 'lookup'", "SELECT timestamp AS of FROM t")
    strange.foreach { sql =>
      assert(show(listening.parsePlan(sql)) == show(stockParser.parsePlan(sql)))
    }
    assert(show(listening.parseQuery(flink)) == show(parser.parsePlan(flink)))
    assert(texts.init == strange)
    assert(texts.last.contains("AS OF '.proc_tim' AS c") && texts.last.contains("'async','true'"))
    assert(texts.last.length == flink.length)
  }

  test("a delegate's own command has the user's text and clauses") {
    val commands = new LookupParser(
      ListeningParser(stockParser, remade = (text, plan) => DescribeQueryCommand(text, plan)))
    val command = commands.parsePlan(flink).asInstanceOf[DescribeQueryCommand]
    assert(command.queryText == flink)
    assert(show(command.plan) == show(parser.parsePlan(flink)))
  }

  test("a delegate that hides a clause is refused") {
    val hiding =
      new LookupParser(ListeningParser(stockParser, remade = (_, _) => OneRowRelation()))
    val error = intercept[AnalysisException](hiding.parsePlan(flink))
    assert(error.getCondition == "FIRESTEEL_LOOKUP_CLAUSE_TAKEN")
    assert(error.getMessage.contains("'table'='c', 'shuffle'='true'"))
  }

  test("the parser has the interfaces of its delegate, which answers their methods") {
    val delegate = ListeningParser(stockParser)
    val both = AsDelegate(new LookupParser(delegate), delegate).asInstanceOf[ListeningParser]
    assert(both.order("a") == "ordered by a")
    assert(intercept[IllegalArgumentException](both.order("wrong")).getMessage.contains("wrong"))
    assert(show(both.parsePlan(flink)) == show(parser.parsePlan(flink)))
    assert(show(both.parseQuery(flink)) == show(parser.parsePlan(flink)))
    val wrong = "SELECT FROM FROM"
    assert(outcome(both.parsePlan(wrong)) == outcome(stockParser.parsePlan(wrong)))
    assert(AsDelegate(parser, stockParser) eq parser)
    val outer = new LookupParser(parser)
    assert(AsDelegate(outer, parser) eq outer)
  }
}
