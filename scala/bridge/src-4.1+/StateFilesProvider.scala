package org.apache.spark.sql.execution.streaming.state.firesteel

import java.io.DataInputStream
import java.util.UUID

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{HDFSBackedStateStoreProvider, StateStoreConf, StateStoreId, StateStoreProvider, StateStoreProviderId}
import org.apache.spark.sql.types.StructType

/**
 * Spark's in-memory provider with what is private in it: how it opens its files. The package is inside
 * the one to which they are private.
 */
abstract class StateFilesProvider extends HDFSBackedStateStoreProvider {

  /** Opens a file of the state as its content. */
  final protected def opened(
      file: Path,
      conf: StateStoreConf,
      hadoop: Configuration): DataInputStream = {
    val _ = (conf, hadoop)
    decompressStream(fm.open(file))
  }

  /** The names of the files in a folder. */
  final protected def namesIn(folder: Path, hadoop: Configuration): Seq[String] = {
    val _ = hadoop
    fm.list(folder).map(_.getPath.getName).toSeq
  }

  /** Whether rows have the types that they should have, as Spark checks it. */
  final protected def check(
      id: StateStoreId,
      conf: StateStoreConf,
      key: (UnsafeRow, StructType),
      value: (UnsafeRow, StructType)): Unit =
    StateStoreProvider.validateStateRowFormat(key._1, key._2, value._1, value._2, id, conf)

  /** Tells the driver of the snapshot that was read, as Spark does: it takes a store without for late. */
  final protected def report(
      snapshot: Long,
      id: StateStoreId,
      conf: StateStoreConf,
      hadoop: Configuration): Unit =
    if (conf.reportSnapshotUploadLag) {
      val store = StateStoreProviderId(id, UUID.fromString(StateStoreProvider.getRunId(hadoop)))
      StateStoreProvider.coordinatorRef
        .foreach(_.snapshotUploaded(store, snapshot, System.currentTimeMillis()))
    }
}
