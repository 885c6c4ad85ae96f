package org.apache.spark.sql.firesteel

import java.util.Map.Entry

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{HDFSBackedStateStoreMap, StateStore, StateStoreRow, UnsafeRowPair, UnsafeRowWrapper}
import org.apache.spark.sql.execution.streaming.state.firesteel.StateFilesProvider

/** The entries of a version of a state store, in the place of the map of Spark's provider. */
abstract class OwnStateRows extends HDFSBackedStateStoreMap {
  protected def write(key: UnsafeRow, value: UnsafeRow): Unit

  /** Whether the key was there. */
  protected def erase(key: UnsafeRow): Boolean

  /** They do not change from now on. Other threads may read them. */
  def freeze(): Unit

  final override def put(key: UnsafeRow, value: UnsafeRowWrapper): UnsafeRowWrapper = {
    write(key, value.unsafeRow())
    value
  }

  final override def remove(key: UnsafeRow): UnsafeRowWrapper =
    if (erase(key)) StateStoreRow(key) else null

  final override def putAll(rows: HDFSBackedStateStoreMap): Unit =
    rows.iterator().foreach((entry: UnsafeRowPair) => write(entry.key, entry.value))

  final override def entryIterator(): Iterator[Entry[UnsafeRow, UnsafeRowWrapper]] =
    iterator().map(entry => java.util.Map.entry(entry.key, StateStoreRow(entry.value)))
}

/** Spark's provider with files in the checkpoint, and with entries of another kind in memory. */
abstract class OwnRowsProvider extends StateFilesProvider {

  /** The entries of a version, to be changed by one task. */
  protected def openedRows(version: Long): OwnStateRows

  /** The entries have become this version, and its file is written. */
  protected def committed(rows: OwnStateRows, version: Long): Unit

  final override def getStore(
      version: Long,
      checkpointId: Option[String],
      forceSnapshotOnCommit: Boolean,
      loadEmpty: Boolean): StateStore =
    // Spark's own has the errors.
    if (version < 0 || checkpointId.isDefined || loadEmpty)
      super.getStore(version, checkpointId, forceSnapshotOnCommit, loadEmpty)
    else new Store(version, openedRows(version), forceSnapshotOnCommit)

  private class Store(version: Long, rows: OwnStateRows, forcesSnapshot: Boolean)
    extends HDFSBackedStateStore(version, rows, forcesSnapshot) {
    override def commit(): Long = {
      rows.freeze()
      val next = super.commit()
      committed(rows, next)
      next
    }
  }
}
