package io.firesteel.lookup

import org.apache.spark.SparkThrowable
import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}
import org.scalatest.Assertion

/**
 * Positions of errors and plan nodes in the user's text.
 *
 * The reference is Spark's own parser on a text of the same length, with blanks instead of the hint
 * and a literal instead of the time.
 */
class LookupParserPositionsSuite extends ParserSuite {

  private val hint = "/*+ LOOKUP('table'='c', 'async'='true') */"

  /** A text in Flink's syntax, and one of the same length that Spark accepts. */
  private def texts(sql: String): (String, String) =
    (
      sql.replace("{hint}", hint).replace("{time}", "o.proc_time"),
      sql.replace("{hint}", " " * hint.length).replace("{time}", "'proc_time'"))

  private val statements = Seq(
    "SELECT {hint} o.id, nope FROM o JOIN t FOR SYSTEM_TIME AS OF {time} AS c WHERE x > 1",
    "SELECT {hint}\n o.id,\n nope FROM o JOIN t TIMESTAMP AS OF {time} c\n ON o.k = c.k WHERE x",
    "WITH a AS (SELECT {hint} x.y FROM o JOIN t TIMESTAMP AS OF {time} c ON o.k = c.k) FROM a",
    "SELECT (SELECT {hint} max(o.k) FROM o, t FOR SYSTEM_TIME AS OF {time}) AS z, nope FROM p",
    "INSERT INTO s SELECT {hint} a, b FROM o JOIN t FOR SYSTEM_TIME AS OF {time} USING (k)",
    "SELECT 'ü', {hint} 1, nope FROM o JOIN t FOR SYSTEM_TIME AS OF {time} AS c"
      .replace("'ü', {hint}", "{hint} 'ü', '\uD83D\uDE00',"),
    "BEGIN DECLARE v INT; SELECT {hint} o.k FROM o, t FOR SYSTEM_TIME AS OF {time} c; SELECT v; END"
  ).map(texts)

  private def nodes(plan: LogicalPlan): Seq[TreeNode[_]] =
    plan.collectWithSubqueries { case node =>
      (node +: node.expressions.flatMap(_.collect { case e: Expression => e })) ++
        node.innerChildren.collect { case inner: LogicalPlan => inner }.flatMap(nodes)
    }.flatten

  private def place(origin: Origin) =
    (origin.line, origin.startPosition, origin.startIndex, origin.stopIndex)

  private def places(plan: LogicalPlan) = nodes(plan)
    .filterNot(node => node.nodeName == "UnresolvedHint" || node.isInstanceOf[Literal])
    // The other text's time is Spark's.
    .map(node => node.nodeName.replace("LookupTable", "RelationTimeTravel") -> place(node.origin))
    // A hint's parameters are not in the other text.
    .toSet

  statements.foreach { case (flink, spark) =>
    test(s"every node of the plan has the user's text and Spark's place: $flink") {
      val (ours, theirs) = (parser.parsePlan(flink), stockParser.parsePlan(spark))
      assert((places(theirs) -- places(ours)).isEmpty)
      val texts = nodes(ours).map(_.origin.sqlText).toSet
      assert(texts == Set(Some(flink)))
    }
  }

  test("a syntax error behind the clauses has the user's text, and Spark's line and position") {
    statements.foreach { case (flink, spark) =>
      Seq(" )", "\n FROM FROM", " /* open").foreach { tail =>
        val (ours, theirs) =
          (error(parser.parsePlan(flink + tail)), error(stockParser.parsePlan(spark + tail)))
        assert(ours.getCondition == theirs.getCondition)
        assert(ours.command.contains(flink + tail))
        assert(place(ours.start) == place(theirs.start))
      }
    }
  }

  test("an error in a hint or in a time is where the user sees it") {
    Seq(
      "SELECT /*+ LOOKUP('table'='c') ^* FROM t",
      "SELECT /*+ LOOKUP('table'=3 ^+) */ * FROM t",
      // Not closed: no hint that is understood, hence Spark's own error.
      "SELECT /*+ LOOKUP('a'^='b', 'c'=(, 'd'='e') */ * FROM t",
      "SELECT * FROM o JOIN t FOR SYSTEM_TIME AS OF ^o.ts = 3"
    ).foreach { marked =>
      val sql = marked.replace("^", "")
      val found = error(parser.parsePlan(sql))
      assert(found.start.startPosition.contains(marked.indexOf('^')), found.getMessage)
      assert(found.command.contains(sql))
    }
  }

  private val query = "SELECT {hint} o.id, nope FROM range(3) o JOIN t " +
    "FOR SYSTEM_TIME AS OF {time} AS c ON o.id = c.id"

  private def failure(sql: String, parameters: Map[String, Any] = Map.empty): AnalysisException =
    intercept[AnalysisException](spark.sql(sql, parameters))

  /** Without the clause: the session's rule takes the time off the table in either text. */
  private def assertSamePlace(
      sql: String,
      fragment: String,
      parameters: Map[String, Any] = Map.empty): Assertion = {
    val (flink, plain) = texts(sql)
    val (ours, theirs) = (failure(flink, parameters), failure(plain, parameters))
    assert(ours.getCondition == "UNRESOLVED_COLUMN.WITH_SUGGESTION")
    val (context, expected) = (ours.getQueryContext.head, theirs.getQueryContext.head)
    assert(context.fragment == fragment)
    assert(context.startIndex == expected.startIndex)
    assert(context.stopIndex == expected.stopIndex)
    // The line and position, and a piece of the text, all of it as the user wrote it.
    val summary = """== SQL.* \(line \d+, position \d+\) ==""".r
    assert(
      summary.findFirstIn(context.summary) == summary.findFirstIn(expected.summary))
    assert(ours.line == theirs.line && ours.startPosition == theirs.startPosition)
    val pieces = context.summary.linesIterator.map(_.stripPrefix("...").stripSuffix("..."))
    assert(pieces.exists(piece => piece.trim.length > 4 && flink.contains(piece)), context.summary)
  }

  test("an unresolved column before or behind the clauses is reported where the user wrote it") {
    spark.range(3).createOrReplaceTempView("t")
    assertSamePlace(query, "nope")
    assertSamePlace(query.replace("nope", "1").replace("c.id", "c.nope"), "c.nope")
    assertSamePlace(query.replace("nope", "1") + " WHERE nope > 1", "nope")
    assertSamePlace(query.replace("nope", "1") + "\n  WHERE\n    nope > 1", "nope")
  }

  test("with parameters too, which Spark writes into the text") {
    spark.range(3).createOrReplaceTempView("t")
    val rest = query.replace("nope", ":value")
    assertSamePlace(rest + " WHERE nope > 1", "nope", Map("value" -> "a long text"))
    assertSamePlace(rest + " WHERE nope > :value", "nope", Map("value" -> 7))
  }

  test("an error of a row, and one of the parser without a place, show the user's text") {
    spark.range(3).createOrReplaceTempView("t")
    val (flink, _) = texts(query.replace("nope", "o.id / 0"))
    val divided = intercept[ArithmeticException](spark.sql(flink).collect())
    val shown = divided.asInstanceOf[SparkThrowable].getQueryContext.head.summary
    assert(shown.contains("'async'='true'"), shown)
    val twice = error(parser.parsePlan(s"WITH a AS ($flink), a AS ($flink) SELECT * FROM a"))
    assert(twice.getCondition == "DUPLICATED_CTE_NAMES")
    assert(twice.getMessage.contains("'table'='c'") && !twice.getMessage.contains("'table','c'"))
  }

  test("an error in a view's body names the view, and is where the view's text has it") {
    spark.range(3).createOrReplaceTempView("t")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW gone AS SELECT id, 1 AS nope FROM range(3)")
    val (flink, plain) = texts(query.replace("range(3)", "gone"))
    spark.sql(s"CREATE OR REPLACE TEMPORARY VIEW ours AS $flink")
    spark.sql(s"CREATE OR REPLACE TEMPORARY VIEW theirs AS $plain")
    spark.sql("CREATE OR REPLACE TEMPORARY VIEW gone AS SELECT id FROM range(3)")
    val (ours, theirs) = (failure("TABLE ours"), failure("TABLE theirs"))
    assert(ours.getQueryContext.head.objectName.endsWith("ours"))
    assert(ours.line == theirs.line && ours.startPosition == theirs.startPosition)
    assert(ours.getQueryContext.head.startIndex == theirs.getQueryContext.head.startIndex)
  }
}
