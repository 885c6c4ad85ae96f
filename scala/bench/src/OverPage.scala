package io.firesteel.bench

import io.firesteel.bench.MarkdownPage.table

/** The page of sums by `OVER`. */
object OverPage {

  private val least = 1.0

  /** How much longer a row may take in a partition of a hundred times as many rows. */
  private val flat = 1.25

  def of(results: SuiteResults): String = SuitePage.of(
    Seq(
      heading(results),
      targets(results.results),
      "## Seconds\n\n" + SuitePage.times(results.results)),
    results)

  private def heading(results: SuiteResults): String =
    s"""# Measured: sums by OVER beside Apache Flink
       |
       |Written by ${SuitePage.command(
        results)}; do not edit. Readings of sensors, ${results.size} in the order of
       |their times, in ${OverMain.parts} Parquet files.
       |firesteel reads ${OverMain.filesPerBatch} of them in each micro-batch, and commits its state in each, by Spark's
       |default provider. firesteel and Flink ran in turn, each in a JVM with two tasks on the same two
       |cores, after each had run for ${WarmUp.secondsOfSuite.toInt} s. Both gave the answer of the batch query, or there would be no page.
       |
       |${SuitePage.flink} Flink
       |emits a row once the watermark has passed it. It has two files of every second row, one for each
       |task, since it reads files in no order of time.
       |
       |```sql
       |${OverCases.many.question(1).sql}
       |```
       |
       |The case of 10 keys has a table of its own, and the running total begins at
       |`UNBOUNDED PRECEDING`.""".stripMargin

  private def targets(results: Seq[SuiteResult]): String = {
    def of(its: OverCase): Option[SuiteResult] = results.find(_.query == its.name)
    val speed = for {
      result <- of(OverCases.many).toSeq
      ratio <- result.speedUp
    } yield Seq(
      s"${OverCases.many.name}: Flink / firesteel ≥ $least",
      f"${ratio.median}%.2f",
      if (ratio.median >= least) "met" else "missed")
    val growth = for {
      many <- of(OverCases.many).toSeq
      few <- of(OverCases.few)
    } yield {
      def seconds(of: SuiteResult) = of.rounds.seconds(StreamingContestant.firesteel).median
      val times = seconds(few) / seconds(many)
      Seq(
        s"firesteel, ${OverCases.few.name} / ${OverCases.many.name} ≤ $flat",
        f"$times%.2f",
        if (times <= flat) "met" else "missed")
    }
    "## Targets\n\n" + table(Seq("target", "measured", "verdict"), speed ++ growth)
  }
}
