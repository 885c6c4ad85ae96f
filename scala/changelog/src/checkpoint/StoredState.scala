package io.firesteel.changelog.checkpoint

import java.io.InputStream
import java.util.UUID

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.TaskContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{KeyStateEncoderSpec, NoPrefixKeyStateEncoderSpec, PrefixKeyScanStateEncoderSpec, StateStore, StateStoreConf, StateStoreId, StateStoreProvider, StateStoreProviderId}
import org.apache.spark.sql.firesteel.{emptyStore, release}
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/** The bytes of an entry's key and value. */
final private[checkpoint] case class Entry(key: Array[Byte], value: Array[Byte])

/**
 * One store of one operator, in all of its partitions; read and written in tasks.
 *
 * @param prefix number of key columns by which an operator scans
 */
final private[checkpoint] case class StoredState(
    root: String,
    operator: Long,
    operatorName: String,
    store: String,
    homes: StateHomes,
    value: StructType,
    prefix: Int,
    conf: StateStoreConf,
    hadoop: Broadcast[SerializableConfiguration]) {

  private def key: StructType = homes.key

  /** The entries of a partition, each with its new partition. */
  def read(
      partition: Int,
      version: Long,
      id: Option[String],
      before: Int,
      after: Int): Iterator[(Int, Entry)] = {
    val provider = open(root, partition)
    TaskContext.get().addTaskCompletionListener[Unit](_ => provider.close())
    val store = provider.getReadStore(version, id)
    TaskContext.get().addTaskCompletionListener[Unit](_ => release(store))
    val (is, willBe) = (homes.among(before), homes.among(after))
    def moved(key: UnsafeRow): Int = {
      // An entry outside the partition that its key says shows that the key does not determine it.
      if (is(key) != partition) {
        throw CheckpointErrors.elsewhere(operatorName, operator, partition, is(key))
      }
      willBe(key)
    }
    store.iterator().flatMap { pair =>
      def entry = Entry(pair.key.copy().getBytes, pair.value.copy().getBytes)
      // All copies are equal; those of the first partition are used.
      if (!homes.isEverywhere(pair.key)) Iterator.single(moved(pair.key) -> entry)
      else if (partition == 0) (0 until after).iterator.map(_ -> entry)
      else Iterator.empty
    }
  }

  /** Writes a partition below another root, as a version; returns its version id there, if any. */
  def write(
      below: String,
      partition: Int,
      version: Long,
      entries: Iterator[Entry]): Option[String] = {
    val provider = open(below, partition)
    try {
      val whole = conf.providerClass == StoredState.hdfs
      // The default provider has an empty store only as its very first version.
      val store = if (whole) provider.getStore(0) else emptyStore(provider, version - 1)
      fill(store, entries)
      if (whole) asSnapshot(provider.stateStoreId.storeCheckpointLocation(), version)
      store.getStateStoreCheckpointInfo().stateStoreCkptId
    } finally provider.close()
  }

  private def fill(store: StateStore, entries: Iterator[Entry]): Unit =
    try {
      val (ofKey, ofValue) = (new UnsafeRow(key.size), new UnsafeRow(value.size))
      entries.foreach { entry =>
        ofKey.pointTo(entry.key, entry.key.length)
        ofValue.pointTo(entry.value, entry.value.length)
        store.put(ofKey, ofValue)
      }
      val _ = store.commit()
    } finally if (!store.hasCommitted) store.abort()

  /** The changes of an empty store are, in the same format, its whole content. */
  private def asSnapshot(folder: Path, version: Long): Unit = {
    val files = CheckpointFileManager.create(folder, hadoop.value.value)
    Using.resource(files.open(new Path(folder, "1.delta"))) { in =>
      StoredState.copy(in, files, new Path(folder, s"$version.snapshot"))
    }
    // Spark 4.1 and later write a checksum beside the file.
    Seq("1.delta", "1.delta.crc").foreach(name => files.delete(new Path(folder, name)))
  }

  private def open(below: String, partition: Int): StateStoreProvider =
    StateStoreProvider.createAndInit(
      StateStoreProviderId(StateStoreId(below, operator, partition, store), UUID.randomUUID()),
      key,
      value,
      encoder,
      useColumnFamilies = false,
      conf,
      hadoop.value.value: Configuration,
      useMultipleValuesPerKey = false,
      stateSchemaProvider = None
    )

  private def encoder: KeyStateEncoderSpec =
    if (prefix == 0) NoPrefixKeyStateEncoderSpec(key)
    else PrefixKeyScanStateEncoderSpec(key, prefix)
}

private[checkpoint] object StoredState {

  val hdfs: String = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
  val rocksDb: String =
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"

  def copy(in: InputStream, files: CheckpointFileManager, to: Path): Unit = {
    val out = files.createAtomic(to, overwriteIfPossible = true)
    try {
      val _ = in.transferTo(out)
      out.close()
    } catch { case e: Throwable => out.cancel(); throw e }
  }
}
