package io.firesteel.bench

import java.nio.file.{Files, StandardOpenOption}

import org.apache.spark.sql.Row
import org.scalatest.funsuite.AnyFunSuite

/** The arithmetic and the log of TPC-DS, without Spark. */
class TpcdsMeasuringSuite extends AnyFunSuite {

  private def times(query: String, stock: Double*): QueryTimes =
    QueryTimes(query, stock, stock.map(_ => 1.0), stock.map(_ => 100L), stock.map(_ => 60L), None)

  private val side = SideOutcome(10, 2, 100, Seq("PlanTopN"), Seq("SKEW.NO"))

  private def answer(query: String, verdict: Verdict = Verdict.Equal): QueryAnswer =
    QueryAnswer(query, verdict, "", Some(side), Some(side.copy(shuffles = 1)))

  test("floats are equal to 12 digits and everything else exactly") {
    def equal(left: Row, right: Row): Boolean = RowBags.difference(Seq(left), Seq(right)).isEmpty
    assert(equal(Row(1, 0.1 + 0.2), Row(1, 0.3)) && !equal(Row(1, 0.3), Row(1, 0.3001)))
    assert(equal(Row(Double.NaN, 0.0), Row(Double.NaN, -0.0)))
    assert(!equal(Row(Double.PositiveInfinity), Row(1.0)) && !equal(Row(null), Row(0.0)))
    assert(!equal(Row(new java.math.BigDecimal("1.00")), Row(new java.math.BigDecimal("1.01"))))
  }

  test("each row finds one equal row and no more") {
    val difference = RowBags.difference(
      Seq(Row("a", 1.0), Row("a", 1.0), Row("b", 2.0)),
      Seq(Row("a", 1.0), Row("a", 3.0), Row("a", 1.0)))
    assert(difference == BagDifference(Seq(Row("b", 2.0)), Seq(Row("a", 3.0))))
  }

  test("the median lies between the 2nd and the 10th of 11 values, 19 times out of 20") {
    assert(Sample((1 to 11).map(_.toDouble)).medianInterval == ((2.0, 10.0)))
    assert(Sample((1 to 6).map(_.toDouble)).medianInterval == ((1.0, 6.0)))
    assert(Sample(Seq(1.0, 2.0, 3.0)).medianInterval == ((1.0, 3.0)))
  }

  test("a query is asked again until its median is on one side of the bound") {
    assert(TpcdsClock.looksSlower(times("q1", 0.9, 0.94, 1.0)))
    assert(!TpcdsClock.looksSlower(times("q1", 0.9, 0.96, 1.0)))
    assert(TpcdsClock.clear(times("q1", Seq.fill(11)(0.9): _*)))
    assert(TpcdsClock.clear(times("q1", Seq.fill(11)(1.0): _*)))
    assert(!TpcdsClock.clear(times("q1", Seq.tabulate(11)(i => 0.9 + i * 0.01): _*)))
  }

  test("a killed run continues with its results, without the last half line") {
    val file = Files.createTempDirectory("log").resolve("below/log.jsonl")
    val log = OutcomeLog.open(file, resume = true)
    log.add(answer("q1", Verdict.EqualButForTies))
    log.add(times("q1", 1.0, 2.0).copy(firstLook = Some(0.9)))
    Files.writeString(file, """{"answer":{"query":"q2","verd""", StandardOpenOption.APPEND)
    val again = OutcomeLog.open(file, resume = true)
    again.add(answer("q3"))
    assert(again.answers.keySet == Set("q1", "q3"))
    assert(again.answers("q1") == answer("q1", Verdict.EqualButForTies))
    assert(again.times("q1") == times("q1", 1.0, 2.0).copy(firstLook = Some(0.9)))
    assert(OutcomeLog.open(file, resume = false).answers.isEmpty)
  }

  test("a geometric mean is over those timed, and bytes are added up") {
    val results = TpcdsResults(
      Environment(Nil),
      1.0,
      Map.empty,
      noise = false,
      Seq(
        TpcdsResult(answer("q1"), Some(times("q1", 2.0))),
        TpcdsResult(answer("q2"), Some(times("q2", 0.5))),
        TpcdsResult(answer("q3"), None)),
      Nil
    )
    assert(results.geometricMean(Seq("q1", "q2", "q3")).contains(1.0))
    assert(results.geometricMean(Seq("q3")).isEmpty)
    assert(results.shareOfBytes(Seq("q1", "q2")).contains(0.6))
    assert(results.slower.map(_.query) == Seq("q2"))
  }

  test("the page says which answers are wrong and which queries are slower") {
    val page = TpcdsPage.of(TpcdsResults(
      Environment(Seq("command" -> "build/bench tpcds")),
      1.0,
      Map.empty,
      noise = false,
      Seq(
        TpcdsResult(answer("q12"), Some(times("q12", 0.5, 0.6, 0.7))),
        TpcdsResult(answer("q20", Verdict.Different).copy(detail = "stock alone"), None)),
      Nil
    ))
    assert(page.contains("| same answers on all of 2 | 1; of these 0"))
    assert(page.contains("missed by q12") && page.contains("| q20 | different | stock alone |"))
    assert(page.contains("at scale 1,"))
    assert(page.contains(
      "of the 1 of subset keys with fewer shuffles >= 1.15 | 0.600 | missed by 47.8 %"))
    assert(page.contains("<= 0.7 | 0.600 | met"))
  }

  test("queries, settings and means come from the command line, and mistakes are named") {
    val read = TpcdsArguments.parse(
      Seq("--room", "tpcds", "--case", "q20,q3", "--set", "a=b=c", "--mean", "q1,q2", "--resume"))
    assert(read.map(_.queries) == Right(Seq("q3", "q20")))
    assert(read.map(_.settings) == Right(Map("a" -> "b=c")))
    assert(read.map(_.command) ==
      Right("build/bench tpcds --case q20,q3 --set a=b=c --mean q1,q2"))
    assert(TpcdsArguments.parse(Nil).map(_.queries.size) == Right(103))
    def refused(options: String*): String = TpcdsArguments.parse(options).left.getOrElse("")
    assert(refused("--case", "q100").contains("no query q100"))
    assert(refused("--scale", "0").contains("--scale must be"))
    assert(refused("--set", "a").contains("KEY=VALUE"))
  }
}
