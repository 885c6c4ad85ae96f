package io.firesteel.bench

import org.apache.spark.sql.SparkSession

/** Times the queries of TPC-H over streams beside Apache Flink, and writes their page. */
object TpchMain extends SuiteMain("tpch") {

  /** Micro-batches in which all rows come. */
  private val batches = 10

  /** Files of a table that a micro-batch reads: one for each core. */
  val filesPerBatch: Int = 2

  /** Files of a table. */
  val parts: Int = batches * filesPerBatch

  override protected def names: Seq[String] = TpchTables.queries

  override protected def size(arguments: Arguments): String = s"scale ${arguments.scale}"

  override protected def queries(
      spark: SparkSession,
      arguments: Arguments,
      progress: Progress,
      asked: Seq[String]): Seq[SuiteQuery] = {
    val files = new TpchFiles(spark, arguments.data, arguments.scale, parts, progress)
    files.make()
    asked.map(new TpchFlink(files).query)
  }

  override protected def page(results: SuiteResults): String = TpchPage.of(results)
}
