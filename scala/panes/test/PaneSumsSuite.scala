package io.firesteel.panes

import org.apache.spark.sql.internal.SQLConf

/** Sums with intermediate results outside the range of their type: panes are added by time. */
class PaneSumsSuite extends PanesSuite {

  private val most = Seq(
    "BIGINT" -> "9223372036854775807L",
    "DECIMAL(38, 0)" -> ("9" * 38 + "BD"),
    "DECIMAL(38, 6)" -> ("9" * 32 + "." + "9" * 6 + "BD"),
    "DECIMAL(30, 2)" -> ("9" * 28 + ".99BD"),
    "INTERVAL DAY TO SECOND" -> "INTERVAL '106751991 04:00:54.775807' DAY TO SECOND",
    "INTERVAL YEAR TO MONTH" -> "INTERVAL '178956970-7' YEAR TO MONTH",
    "INT" -> "2147483647"
  )

  /** Hours 0, 3, 1, 4 of one file, in this order, with numbers of changing sign. */
  private def windows(value: String, calls: String*): String =
    s"""SELECT window.start AS s, ${calls.zipWithIndex.map { case (c, i) => s"$c AS c$i" }.mkString(
        ", ")}
       |FROM (SELECT /*+ COALESCE(1) */ *
       |  FROM VALUES (0, $value), (3, -$value), (1, $value), (4, -$value) AS t(h, v))
       |GROUP BY window(timestamp_seconds(h * 3600), '1 day', '1 hour')""".stripMargin

  private val calls =
    Seq("sum(v)", "avg(v)", "sum(v) FILTER (WHERE h < 9)", "try_sum(v)", "try_avg(v)")

  for ((dataType, value) <-
      most;
    ansi <- Seq(true, false))
    test(
      s"sums of $dataType, ANSI $ansi: one that comes back is an answer, one that stays out is not") {
      spark.sparkContext.setLogLevel("OFF")
      withConf(SQLConf.ANSI_ENABLED.key -> ansi) {
        assertSameAnswer(
          s"SELECT * FROM (${windows(value, calls: _*)}) WHERE s = timestamp_seconds(0)")
        // Some windows have the positive numbers alone.
        val _ = assertSameOutcome(windows(value, calls.takeRight(2): _*))
        calls.take(2).foreach(call => assertSameOutcome(windows(value, call)))
      }
    }
}
