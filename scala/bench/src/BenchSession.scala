package io.firesteel.bench

import java.nio.file.Path

import org.apache.spark.sql.SparkSession

/** The one session of a benchmark. */
object BenchSession {

  /**
   * Spark's defaults on two cores. Of the settings here, only the number of shuffle partitions
   * affects plans.
   *
   * @param installed whether the session has the extension
   * @param partitions partitions of a shuffle; `None` for Spark's default
   * @param more the room's settings
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

  /**
   * The extension's version. Spark starts without an extension that it cannot load, so this checks.
   */
  def firesteelVersion(spark: SparkSession): String =
    spark.sql("SELECT version FROM firesteel_version()").head().getString(0)
}
