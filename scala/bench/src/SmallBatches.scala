package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession

/** The time of a micro-batch of one row, with state of many rows. */
final case class SmallBatchesOutcome(
    provider: String,
    operators: Int,
    partitions: Int,
    stateRows: Long,
    seconds: Seq[Double]) {

  def sample: Sample = Sample(seconds)
}

/** Measures the fixed cost of a micro-batch, with four stateful operators. */
final class SmallBatches(spark: SparkSession, scratch: Path, progress: Progress) {

  private val warmUps = 5

  def run(batches: Int): Seq[SmallBatchesOutcome] =
    Seq(
      SmallBatches.defaultProvider -> StreamingSettings.inMemory,
      "RocksDB" -> StreamingSettings.rocksDb).map { case (provider, settings) =>
      val all = settings + ("spark.sql.shuffle.partitions" -> SmallBatches.partitions.toString)
      Contestant(provider, "", all).within(spark) {
        progress.step(s"${SmallBatches.name}: $provider")(measured(provider, batches))
      }
    }

  private def measured(provider: String, batches: Int): SmallBatchesOutcome = {
    Files.createDirectories(scratch)
    val folder = Files.createTempDirectory(scratch.toAbsolutePath, "small")
    val stream =
      new FedStream(spark, folder, SmallBatches.table, SmallBatches.sql, Seq("category", "items"))
    try {
      val first = SmallBatches.rowsBefore
      stream.feed(0, first)
      val seconds = (0 until warmUps + batches).map(i => stream.feed(first + i, first + i + 1))
      val (state, operators) = stream.state
      SmallBatchesOutcome(
        provider,
        operators,
        SmallBatches.partitions,
        state.rows,
        seconds.drop(warmUps))
    } finally stream.close()
  }
}

object SmallBatches {

  val name: String = "small-batches"
  val title: String = "a micro-batch of one row, 4 stateful operators"
  val partitions: Int = 4
  val defaultProvider: String = "in memory"
  val target: Bound = Bound.AtMost(1.0)

  private val rowsBefore = 100000L

  private val table = Table(
    "fed",
    rowsBefore,
    Seq(
      "category" -> "pmod(xxhash64(id, 1), 100)",
      "item" -> "pmod(xxhash64(id, 2), 100)",
      "buyer" -> "pmod(xxhash64(id, 3), 1000)"))

  /** Distinct rows, counted, the first ten of each category, and their sum. */
  val sql: String =
    """SELECT category, SUM(buyers) AS items FROM (
      |  SELECT *, ROW_NUMBER() OVER (PARTITION BY category ORDER BY buyers DESC, item) AS place FROM (
      |    SELECT category, item, COUNT(*) AS buyers FROM (
      |      SELECT DISTINCT category, item, buyer FROM fed) GROUP BY category, item))
      |WHERE place <= 10 GROUP BY category""".stripMargin
}
