package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession

/**
 * The times of micro-batches at two sizes of state, and the check of the answer.
 *
 * @param rowsPerBatch rows of each timed micro-batch
 */
final case class ManyKeysOutcome(
    heapMiB: Long,
    fewKeys: Long,
    manyKeys: Long,
    rowsPerBatch: Long,
    atFew: Seq[Double],
    atMany: Seq[Double],
    stateRows: Long,
    loadSeconds: Double) {

  /** The time of a micro-batch with many keys, as a multiple of that with few. */
  def slowdown: Sample = Sample.ofRatios(Sample(atMany), Sample(atFew))
}

/**
 * A count per key and the number of keys with each count, over few and over ten times as many keys,
 * on RocksDB in a small heap.
 *
 * @param rows rows of the suite's tables: at 5 million, 1 million keys become 10 million
 */
final class ManyKeys(spark: SparkSession, scratch: Path, progress: Progress, rows: Long) {

  private val fewKeys = math.max(rows / 5, 1)
  private val manyKeys = fewKeys * 10
  private val perLoad = math.max(rows / 10, 1)
  private val perBatch = math.max(rows / 50, 1)
  private val warmUps = 6

  /** The first ids are keys. Later ids pick one of the keys that are loaded by then. */
  private val key: String = s"CASE WHEN id < $manyKeys THEN id " +
    s"WHEN id < ${2 * manyKeys} THEN pmod(xxhash64(id, 1), $fewKeys) " +
    s"ELSE pmod(xxhash64(id, 1), $manyKeys) END"

  def run(batches: Int): ManyKeysOutcome =
    Contestant("", "", StreamingSettings.rocksDb).within(spark) {
      Files.createDirectories(scratch)
      val folder = Files.createTempDirectory(scratch.toAbsolutePath, "keys")
      val stream =
        new FedStream(
          spark,
          folder,
          Table("fed", manyKeys, Seq("k" -> key)),
          ManyKeys.sql,
          Seq("c", "keys_with_it"))
      try measured(stream, batches)
      finally stream.close()
    }

  private def measured(stream: FedStream, batches: Int): ManyKeysOutcome = {
    load(stream, 0, fewKeys)
    val atFew = touch(stream, manyKeys, batches)
    val from = System.nanoTime()
    load(stream, fewKeys, manyKeys)
    val loadSeconds = (System.nanoTime() - from) / 1e9
    val atMany = touch(stream, 2 * manyKeys, batches)
    if (stream.checksum != stream.truth) {
      throw new WrongAnswer(
        s"${ManyKeys.name}: the batch query answers ${stream.truth}, firesteel ${stream.checksum}")
    }
    val (state, _) = stream.state
    ManyKeysOutcome(
      Runtime.getRuntime.maxMemory >> 20,
      fewKeys,
      manyKeys,
      perBatch,
      atFew,
      atMany,
      state.rows,
      loadSeconds)
  }

  private def load(stream: FedStream, from: Long, to: Long): Unit =
    (from until to by perLoad).foreach { start =>
      val end = math.min(start + perLoad, to)
      progress.stepWithOutcome(f"${ManyKeys.name}: keys up to $end%,d")(stream.feed(start, end))(
        batch => f"micro-batch $batch%.2f s")
    }

  private def touch(stream: FedStream, from: Long, batches: Int): Seq[Double] =
    (0 until warmUps + batches).map { i =>
      val start = from + i * perBatch
      progress.stepWithOutcome(f"${ManyKeys.name}: $perBatch%,d rows")(
        stream.feed(start, start + perBatch))(batch => f"micro-batch $batch%.2f s")
    }.drop(warmUps)
}

object ManyKeys {

  val name: String = "many-keys"
  val title: String = "ten times the keys on RocksDB, 1 GiB of heap"
  val heapMiB: Int = 1024
  val target: Bound = Bound.AtMost(1.5)

  val sql: String =
    "SELECT c, COUNT(*) AS keys_with_it FROM (SELECT k, COUNT(*) AS c FROM fed GROUP BY k) GROUP BY c"
}
