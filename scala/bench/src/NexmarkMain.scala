package io.firesteel.bench

import org.apache.spark.sql.SparkSession

/** Times the queries of Nexmark beside Apache Flink, and writes their page. */
object NexmarkMain extends SuiteMain("nexmark") {

  /** Of two million events each by default. Spark plans and commits each, whatever its rows. */
  val batches: Int = 2

  /** Files of a table that a micro-batch reads: two for each core. */
  val filesPerBatch: Int = 4

  /** Files of a table. */
  val parts: Int = batches * filesPerBatch

  override protected def names: Seq[String] = NexmarkQueries.all.map(_.name)

  override protected def size(arguments: Arguments): String = f"${arguments.rows}%,d events"

  override protected def queries(
      spark: SparkSession,
      arguments: Arguments,
      progress: Progress,
      asked: Seq[String]): Seq[SuiteQuery] = {
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    val files = new NexmarkFiles(spark, arguments.data, arguments.rows, parts, progress)
    files.make()
    val both = new NexmarkFlink(files)
    asked.map(name => both.query(NexmarkQueries.of(name)))
  }

  override protected def page(results: SuiteResults): String = NexmarkPage.of(results)
}
