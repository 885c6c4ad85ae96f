package io.firesteel.bench

import java.nio.file.Path

import org.apache.spark.sql.SparkSession

/** The one session of a benchmark. */
object BenchSession {

  /**
   * Spark as it comes, on two cores; what is set here does not touch how a query is planned, but
   * for the number of shuffle partitions.
   *
   * @param installed false leaves the extension out
   * @param partitions of a shuffle; `None` for Spark's default
   * @param more settings of the room
   */
  def start(
      data: Path,
      installed: Boolean,
      master: String = "local[2]",
      partitions: Option[Int] = Some(8),
      more: Map[String, String] = Map.empty): SparkSession = {
    val builder = SparkSession
      .builder()
      .appName("firesteel bench")
      .master(master)
      .config("spark.ui.enabled", "false")
      .config("spark.ui.showConsoleProgress", "false")
      .config("spark.log.level", "ERROR")
      .config("spark.driver.bindAddress", "127.0.0.1")
      .config("spark.driver.host", "127.0.0.1")
      .config("spark.sql.warehouse.dir", data.toAbsolutePath.resolve("warehouse").toString)
    partitions.foreach(n => builder.config("spark.sql.shuffle.partitions", n.toString))
    more.foreach { case (key, value) => builder.config(key, value) }
    if (installed) builder.config("spark.sql.extensions", "io.firesteel.FiresteelExtensions")
    builder.getOrCreate()
  }

  /** The version of the extension; Spark starts without one that it cannot load, so this asks. */
  def firesteelVersion(spark: SparkSession): String =
    spark.sql("SELECT version FROM firesteel_version()").head().getString(0)
}
