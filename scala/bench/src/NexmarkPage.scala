package io.firesteel.bench

/** The page of Nexmark. */
object NexmarkPage {

  private val (mean, least) = (2.0, 1.0)

  def of(results: SuiteResults): String = {
    val (stateful, stateless) =
      results.results.partition(its => NexmarkQueries.of(its.query).isStateful)
    SuitePage.of(
      Seq(
        heading(results),
        SuitePage.targets(stateful, mean, least, of = ", queries with state,"),
        "## Seconds of queries with state\n\n" + SuitePage.times(stateful),
        "## Seconds of queries without state\n\n" + SuitePage.times(stateless) + "\n\n" + notes
      ),
      results
    )
  }

  private def heading(results: SuiteResults): String =
    s"""# Measured: Nexmark beside Apache Flink
       |
       |Written by ${SuitePage.command(
        results)}; do not edit. The queries of Nexmark over ${results.size} in the
       |order of their times: persons, auctions and bids are streams of ${NexmarkMain.parts} Parquet files each. firesteel and
       |Flink ran in turn, each in a JVM with two tasks on the same two cores, after each had run for ${WarmUp.secondsOfSuite.toInt} s. A
       |ratio is the median of the ratios of neighbouring runs, with the smallest and the largest; seconds
       |are medians. Both gave the answer of the batch query, or there would be no page: the number of rows
       |and a checksum of the columns of whole numbers that do not depend on ties.
       |
       |firesteel reads ${NexmarkMain.filesPerBatch} files of each table in each of ${NexmarkMain.batches} micro-batches, and commits its state in
       |each, by Spark's default provider. Spark plans and commits each micro-batch, whatever its rows: with
       |more and smaller ones results come sooner, and all takes longer. Flink holds rows back for up to the
       |latency of its mini-batches. A query whose result has a key runs in update mode, all others in append
       |mode. ${SuitePage.flink}
       |Neither sink takes the row before an update of a result with a key.
       |
       |firesteel's watermarks are ${NexmarkEvents.delay} behind. For windows it gets a last one from one more file, of an
       |event of a day later, in one more micro-batch. Flink ends its bounded streams with a last
       |watermark, and none comes before: its two tasks read files in no order of time.""".stripMargin

  private val notes: String =
    """- q6: Flink runs `OVER` with a bound before only in the order of event time, which the ranking below
      |  it takes away.
      |- q10: both sinks drop the rows, and make no folders.
      |- q12: windows of the clock. Flink does not close the last ones when its streams end, so its answer
      |  is not compared. firesteel's is by bidder.
      |- q13: Flink's table of files cannot be looked up, so Flink joins two streams and keeps all bids.
      |  firesteel joins a stream and a table.
      |- q4 and q17 have averages, which are whole numbers in Flink and doubles in Spark: they are left
      |  out of the checksum.""".stripMargin
}
