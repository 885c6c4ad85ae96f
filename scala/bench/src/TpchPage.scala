package io.firesteel.bench

/** The page of TPC-H over streams. */
object TpchPage {

  private val (mean, least) = (1.5, 0.7)

  def of(results: SuiteResults): String = SuitePage.of(
    Seq(
      heading(results),
      SuitePage.targets(results.results, mean, least, of = ""),
      "## Seconds\n\n" + SuitePage.times(results.results)),
    results)

  private def heading(results: SuiteResults): String =
    s"""# Measured: TPC-H over streams, beside Apache Flink
       |
       |Written by ${SuitePage.command(
        results)}; do not edit. The queries of TPC-H at ${results.size}: every table
       |but region and nation is a stream of ${TpchMain.parts} Parquet files. firesteel and Flink ran in
       |turn, each in a JVM with two tasks on the same two cores, after each had run for ${WarmUp.secondsOfSuite.toInt} s. Both had as many
       |rows in the end as the batch query, or there would be no page. The values are compared by the
       |tests, for firesteel only.
       |
       |firesteel reads ${TpchMain.filesPerBatch} files of each table in each micro-batch, and commits its state in each, by
       |Spark's default provider; it emits every change (`row_kind()`, append mode). ${SuitePage.flink}
       |Flink may join tables in another order (`table.optimizer.join-reorder-enabled`): as they are written,
       |q2, q8 and q9 begin with a join of part and supplier, which has no condition.
       |A last `ORDER BY` without `LIMIT` is left out.""".stripMargin
}
