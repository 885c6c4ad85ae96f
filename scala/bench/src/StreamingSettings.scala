package io.firesteel.bench

import io.firesteel.checkpoint.LocalCheckpointFileManager

/** Settings of the streams that differ from Spark's defaults. */
object StreamingSettings {

  /** One partition for each core: each costs a store and a commit in every micro-batch. */
  val partitions: Int = 2

  /** Checkpoints are on a local disk, for which Hadoop would start a process for each file. */
  val session: Map[String, String] = Map(
    "spark.sql.shuffle.partitions" -> partitions.toString,
    "spark.sql.streaming.checkpointFileManagerClass" -> classOf[LocalCheckpointFileManager].getName)

  private val provider = "spark.sql.streaming.stateStore.providerClass"
  private val stores = "org.apache.spark.sql.execution.streaming.state"

  val inMemory: Map[String, String] = Map(provider -> s"$stores.HDFSBackedStateStoreProvider")

  /** Commits write changes, as the other provider's do, and not whole files. */
  val rocksDb: Map[String, String] = Map(
    provider -> s"$stores.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> "true")
}
