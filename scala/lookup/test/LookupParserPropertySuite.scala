package io.firesteel.lookup

import io.firesteel.testkit.{SinceSpark, TestSize}

import org.apache.spark.sql.catalyst.parser.{ParseException, ParserInterface}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.command.ExplainCommand
import org.scalacheck.{Gen, Prop, Test}
import org.scalacheck.rng.Seed
import org.scalatest.Assertion

/** Random texts: Spark's own are untouched, and what a text becomes stays as it is. */
class LookupParserPropertySuite extends ParserSuite {

  private val blank: Gen[String] = Gen.frequency(
    8 -> Gen.const(" "),
    1 -> Gen.const("\n"),
    1 -> Gen.const(" /* LOOKUP('a'='b') */ "),
    1 -> Gen.const(" -- TIMESTAMP AS OF o.ts\n"))

  private val name: Gen[String] =
    Gen.oneOf("a", "b", "lookup", "Timestamp", "system_time", "of", "`x y`", "`it's`", "o", "date")

  private val column: Gen[String] =
    Gen.oneOf(name, Gen.zip(Gen.oneOf("o", "`b c`"), name).map { case (o, n) => s"$o.$n" })

  private val value: Gen[String] = Gen.oneOf(
    column,
    column,
    Gen.oneOf("1", "'x'", "\"LOOKUP('a'='b')\"", "r'\\'", "'\uD83D\uDE00'", "DATE '2024-01-01'"),
    column.map(c => s"lookup($c = 'c')"),
    column.map(c => s"CAST($c AS TIMESTAMP)"),
    column.map(c => s"$c::timestamp"),
    Gen.const("'FOR SYSTEM_TIME AS OF o.ts'")
  )

  private val sparkTime: Gen[String] = Gen.oneOf(
    Gen.oneOf("", " TABLESAMPLE (5 ROWS)"),
    Gen.zip(
      Gen.oneOf("FOR SYSTEM_TIME", "TIMESTAMP", "SYSTEM_TIME"),
      Gen.oneOf("'2024-01-01'", "now()", "now() - INTERVAL 1 DAY", "current_date", "f(:p)")
    ).map { case (kind, time) => s" $kind AS OF $time" },
    Gen.const(" VERSION AS OF 'v'")
  )

  private val sparkHint: Gen[String] =
    Gen.oneOf("", "/*+ BROADCAST(c) */ ", "/*+ LOOKUP(('a'='b')), MERGE(o) */ ", "/*+ LOOKUP(c)*/ ")

  private val flinkTime: Gen[String] = for {
    kind <- Gen.oneOf("FOR SYSTEM_TIME", "TIMESTAMP", "FOR\nTIMESTAMP")
    column <- Gen
      .oneOf("o.ts", "ts", "`it's`", "o.`\uD83D\uDE00`", "o.date", "f(o.ts, 'x')", "o.ts::date")
  } yield s" $kind AS OF $column"

  /** Spark 4.0 reads two strings side by side. */
  private val withQuote = if (SinceSpark.is("4.1")) "'as''ync'" else "'as\\'ync'"

  private val flinkHint: Gen[String] = for {
    pairs <- Gen.nonEmptyListOf(Gen.zip(
      Gen.oneOf("'table'", "\"table\"", withQuote, "r'x'"),
      Gen.oneOf("'c'", "3", "'\uD83D\uDE00'", "concat('a', \"b\")", "'x' 'y'", "-1"),
      Gen.oneOf("=", " = ", "==", "/* = */=")
    )).map(_.take(4))
    before <- Gen.oneOf("", "BROADCAST(c), ", "COALESCE(3) ")
  } yield pairs
    .map { case (key, value, equal) => s"$key$equal$value" }
    .mkString(s"/*+ ${before}LOOKUP(", ", ", ") */ ")

  private def query(hint: Gen[String], time: Gen[String]): Gen[String] = for {
    hint <- hint
    items <- Gen.nonEmptyListOf(Gen.zip(value, Gen.oneOf("", " AS of", " AS timestamp", " lookup")))
    time <- time
    alias <- Gen.oneOf(" AS c", " c")
    condition <- Gen.zip(value, value)
    rest <- Gen.oneOf("", " WHERE a > 1", " ORDER BY 1", " UNION SELECT timestamp AS of FROM o")
  } yield {
    val select = items.take(4).map { case (item, alias) => s"$item$alias" }.mkString(", ")
    s"SELECT $hint$select FROM orders AS o JOIN db.t$time$alias " +
      s"ON ${condition._1} = ${condition._2}$rest"
  }

  private def statement(query: Gen[String]): Gen[String] = for {
    query <- query
    form <- Gen.oneOf[String => String](
      identity[String] _,
      (q: String) => s"CREATE OR REPLACE TEMP VIEW lookup AS $q",
      (q: String) => s"INSERT INTO timestamp SELECT * FROM ($q)",
      (q: String) => s"WITH of AS ($q) SELECT * FROM of TIMESTAMP AS OF '2024-01-01' x",
      (q: String) => s"BEGIN $q; SELECT (SELECT max(1) FROM ($q)); END",
      (q: String) => s"EXPLAIN $q",
      (q: String) => s"$q )",
      (q: String) => q.dropRight(7)
    )
    blanks <- Gen.infiniteLazyList(blank)
  } yield {
    // Blanks of a text are outside its strings and names when they are around a bare word.
    val words = form(query).split("(?<= (FROM|JOIN|ON|AS|OF)) ")
    words.zip(blanks).map { case (word, blank) => word + blank }.mkString
  }

  private def check(property: Prop): Assertion = {
    val texts = TestSize.cases(200)
    val seed = Seed(TestSize.seed(20261121L))
    val parameters =
      Test.Parameters.default.withMinSuccessfulTests(texts).withInitialSeed(seed)
    val result = Test.check(parameters, property)
    assert(result.passed, result.status)
  }

  private def sameOutcome(sql: String, ours: ParserInterface, theirs: ParserInterface): Prop = {
    val (left, right) = (outcome(ours.parsePlan(sql)), outcome(theirs.parsePlan(sql)))
    Prop(left == right) :| s"$sql\nours $left\nSpark's $right"
  }

  test("texts in Spark's words have Spark's plan or error") {
    check(Prop.forAllNoShrink(statement(query(sparkHint, sparkTime))) { sql =>
      sameOutcome(sql, parser, stockParser) &&
      (Prop(!LookupText.hasClauses(sql)) :| sql)
    })
  }

  test("texts in Flink's words have the plan or error of what they become, at the same places") {
    val flink = Gen.oneOf(
      query(flinkHint, flinkTime),
      query(flinkHint, sparkTime),
      query(sparkHint, flinkTime))
    var (texts, plans) = (0, 0)
    check(Prop.forAllNoShrink(statement(flink)) { sql =>
      val text = LookupText.plain(sql)
      val (ours, theirs) = (result(parser, sql), result(stockParser, text.plain))
      texts += 1
      if (ours.isRight) plans += 1
      val times = ours.toOption.toSeq.flatMap(timesOf).filter(_.startsWith("as of "))
      (Prop(LookupText.hasClauses(sql)) :| s"no clause in $sql") &&
      (Prop(!LookupText.hasClauses(text.plain)) :| s"still a clause in ${text.plain}") &&
      (Prop(shape(text.plain) == shape(sql)) :| s"another length or line: $sql\n${text.plain}") &&
      (Prop(ours.isRight == theirs.isRight && ours.left.toOption == theirs.left.toOption) :|
        s"$sql\n${text.plain}\nours $ours\nSpark's $theirs") &&
      (Prop(ours.isLeft || times.toSet == text.columns.values.map("as of " + _).toSet) :|
        s"$sql\ntimes $times") &&
      (Prop(shape(LookupText.withoutPairs(sql)) == shape(sql)) :| s"length: $sql")
    })
    // Two of eight forms are cut or spoilt on purpose.
    assert(plans > texts / 2, s"only $plans of $texts texts are good SQL")
  }

  /** The plan, or the error's condition and place. */
  private def result(
      parser: ParserInterface,
      sql: String): Either[(String, Option[Int], Option[Int]), LogicalPlan] =
    try {
      parser.parsePlan(sql) match {
        case explained: ExplainCommand => Right(explained.logicalPlan)
        case plan => Right(plan)
      }
    } catch {
      case e: ParseException => Left((e.getCondition, e.start.line, e.start.startPosition))
    }

  /** Everything by which a text's places are counted. */
  private def shape(text: String) =
    (text.length, text.codePointCount(0, text.length), text.split("\n", -1).map(_.length).toSeq)
}
