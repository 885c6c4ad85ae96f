package io.firesteel.panes

import io.firesteel.testkit.DegenerateCalls

/** Functions over sliding windows with degenerate arguments, such as constants. */
class DegenerateArgumentsSuite extends PanesSuite {

  private val sources = Seq(
    "(SELECT CAST(id - 2 AS INT) AS a, id FROM range(0, 5, 1, 2))",
    "(SELECT CAST(id AS INT) AS a, id FROM range(0))",
    "(SELECT CAST(NULL AS INT) AS a, id FROM range(1))"
  )

  private val calls = DegenerateCalls.plain("a") ++
    DegenerateCalls.percentiles("a").filterNot(_.contains("DISTINCT")) ++
    DegenerateCalls.distinct("a").filterNot(_.contains("DISTINCT"))

  for (keys <- Seq("", "a % 2, "))
    test(s"Spark's answers by ${keys}window") {
      for (source <- sources; some <- calls.grouped(30)) {
        val sql = s"SELECT window, ${DegenerateCalls.columns(some)} FROM $source " +
          s"GROUP BY ${keys}window(timestamp_seconds(id), '4 seconds', '1 second')"
        assertSameAnswer(sql)
        if (source == sources.head && keys.nonEmpty) assert(fired(sql).nonEmpty, sql)
      }
    }

  test("percentiles that Spark rejects or that raise an error") {
    spark.sparkContext.setLogLevel("OFF")
    DegenerateCalls.refusedPercentiles("a").foreach { call =>
      assertSameOutcome(
        s"SELECT window, $call FROM ${sources.head} " +
          "GROUP BY a % 2, window(timestamp_seconds(id), '4 seconds', '1 second')")
    }
  }
}
