package io.firesteel.bench

import org.scalatest.funsuite.AnyFunSuite

/** The arithmetic and the pages of suites beside Flink, without Spark and without Flink. */
class SuiteMeasuringSuite extends AnyFunSuite {

  private def result(query: String, ours: Double, theirs: Option[Double]): SuiteResult = {
    val seconds = Map("firesteel" -> ours) ++ theirs.map("Flink" -> _)
    SuiteResult(
      query,
      "append",
      7,
      10,
      Rounds(seconds.map { case (name, its) => name -> Seq.fill(3)(Run(its, Nil)) }),
      Seq("INNER JOIN [I]"),
      theirs.toRight("no such | order").map(_ =>
        "== Optimized Physical Plan ==\nSink\n+- Join\n\n== Optimized Execution Plan ==\nSink")
    )
  }

  private def results(suite: String, all: SuiteResult*): SuiteResults =
    SuiteResults(suite, "20 events", Environment(Seq("command" -> "`build/bench`")), all)

  private val nexmark = results(
    "nexmark",
    result("q0", 8.0, Some(1.0)),
    result("q3", 1.0, Some(2.0)),
    result("q4", 1.0, Some(8.0)),
    result("q6", 1.0, None))

  test("only queries with state that Flink runs, too, are in the mean") {
    val page = NexmarkPage.of(nexmark)
    assert(page.contains("Flink / firesteel, queries with state, ≥ 2.0 | 4.00 | met |"))
    assert(page.contains("no query, queries with state, below 1.0 | none | met |"))
    assert(
      page.contains("| q6 | append | 7 | 10 | – | 1.00 (1.00–1.00) | refused: no such \\| order |"))
  }

  test("both plans are on the page, and in the JSON") {
    val page = NexmarkPage.of(nexmark)
    assert(page.contains("sink down: INNER JOIN [I].\n\n```text\nSink\n+- Join\n```\n"))
    val json = SuiteJson.of(nexmark)
    Seq("\"speedUp\" : null", "\"flinkPlan\" : \"Sink\\n+- Join\"", "\"flinkRefused\" : \"no such")
      .foreach(part => assert(json.contains(part), json))
  }

  test("a query that is too slow is named") {
    val page = TpchPage.of(results("tpch", result("q1", 2.0, Some(1.0))))
    assert(page.contains("| no query below 0.7 | q1 | missed |"))
  }

  test("OVER is judged by its speed and by how it grows with the partition") {
    val page = OverPage.of(results(
      "over",
      result("1000-keys", 2.0, Some(1.0)),
      result("10-keys", 2.2, Some(1.0))))
    assert(page.contains("| 1000-keys: Flink / firesteel ≥ 1.0 | 0.50 | missed |"))
    assert(page.contains("| firesteel, 10-keys / 1000-keys ≤ 1.25 | 1.10 | met |"))
  }
}
