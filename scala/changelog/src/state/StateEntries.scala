package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreIterator, UnsafeRowPair}
import org.apache.spark.sql.internal.SQLConf

/** Counts of what happened to an operator's state. */
final private[state] case class StateCounts(
    updated: SQLMetric,
    removed: SQLMetric,
    expired: SQLMetric,
    late: SQLMetric)

/** The entries of an operator's store, as its tasks see them. */
private[changelog] class StateEntries(store: StateStore, protected val counts: StateCounts) {

  /** The value of a key, which the next call may overwrite; null when there is none. */
  def get(key: UnsafeRow): UnsafeRow = store.get(key)

  /** Whether an entry lives longer when it is written again as it is. */
  def expires: Boolean = false

  def put(key: UnsafeRow, value: UnsafeRow): Unit = {
    store.put(key, value)
    counts.updated += 1
  }

  def remove(key: UnsafeRow): Unit = {
    store.remove(key)
    counts.removed += 1
  }

  /** Visits the entries whose keys begin so; both rows may be overwritten by the next. */
  final def scan(prefix: UnsafeRow)(visit: (UnsafeRow, UnsafeRow) => Unit): Unit = {
    val entries = store.prefixScan(prefix)
    try {
      while (entries.hasNext) {
        val entry = entries.next()
        if (isThere(entry)) visit(entry.key, entry.value)
      }
    } finally entries.close()
  }

  /** The same for as long as `visit` says so. */
  final def scanWhile(prefix: UnsafeRow)(visit: (UnsafeRow, UnsafeRow) => Boolean): Unit = {
    val entries = store.prefixScan(prefix)
    try {
      var more = true
      while (more && entries.hasNext) {
        val entry = entries.next()
        if (isThere(entry)) more = visit(entry.key, entry.value)
      }
    } finally entries.close()
  }

  /**
   * Whether the store visits keys in the order of their bytes. RocksDB does, as long as Spark writes
   * rows as they are (`spark.sql.streaming.stateStore.encodingFormat`).
   */
  final def sortsKeys: Boolean = StateEntries.sortsKeys(store)

  final def all: Iterator[UnsafeRowPair] = {
    val entries: StateStoreIterator[UnsafeRowPair] = store.iterator()
    entries.filter(isThere)
  }

  /**
   * The number of rows that there are, when so many came more than went: where entries expire, rows
   * may go of which nothing is known any more, and are ignored.
   */
  def present(rows: Long): Long = rows

  /** Takes away what nobody sees any more. */
  def evict(): Unit = ()

  /** Takes away the entries of groups that are closed. */
  final def close(groups: ClosedGroups): Unit =
    counts.removed += removeWhere(entry => groups.isOf(entry.key))

  /** Takes entries away of which nothing is told, and says how many they were. */
  final protected def removeWhere(unwanted: UnsafeRowPair => Boolean): Long = {
    val found = Seq.newBuilder[UnsafeRow]
    val entries = store.iterator()
    try entries.foreach(entry => if (unwanted(entry)) found += entry.key.copy())
    finally entries.close()
    val keys = found.result()
    keys.foreach(store.remove(_))
    keys.size.toLong
  }

  protected def isThere(entry: UnsafeRowPair): Boolean = true
}

private[state] object StateEntries {

  private val format = SQLConf.STREAMING_STATE_STORE_ENCODING_FORMAT

  private def sortsKeys(store: StateStore): Boolean =
    store.getClass.getSimpleName == "RocksDBStateStore" &&
      SQLConf.get.getConf(format).equalsIgnoreCase("unsaferow")
}
