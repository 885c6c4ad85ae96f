package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.{StateStoreIterator, UnsafeRowPair}

/** Metrics of an operator's state. */
final private[state] case class StateCounts(
    updated: SQLMetric,
    removed: SQLMetric,
    expired: SQLMetric,
    late: SQLMetric)

/** The entries of an operator's store, as its tasks read and write them. */
private[changelog] class StateEntries(
    store: KeyedStore,
    protected val counts: StateCounts) {

  /** The value of a key; the next call may overwrite it. Null if there is none. */
  def get(key: UnsafeRow): UnsafeRow = store.get(key)

  /** Whether a write prolongs the life of an entry, even if its value stays the same. */
  def expires: Boolean = false

  def put(key: UnsafeRow, value: UnsafeRow): Unit = {
    store.put(key, value)
    counts.updated += 1
  }

  def remove(key: UnsafeRow): Unit = {
    store.remove(key)
    counts.removed += 1
  }

  /** Visits the entries with this key prefix; the next visit may overwrite both rows. */
  final def scan(prefix: UnsafeRow)(visit: (UnsafeRow, UnsafeRow) => Unit): Unit = {
    val entries = store.withPrefix(prefix)
    try {
      while (entries.hasNext) {
        val entry = entries.next()
        if (isThere(entry)) visit(entry.key, entry.value)
      }
    } finally entries.close()
  }

  /**
   * The entries with this key prefix; the next one may overwrite both rows. The iterator must be
   * read to its end. Meanwhile entries that exist may get new values.
   *
   * RocksDB reads from a snapshot. The default provider reads a hash set of keys, which may grow
   * when a key is written that it has, and then passes over some of them: the entries are listed
   * first. Memory: a reference to each, because the rows are those in the store. A store of another
   * kind may read into one row, so its rows are copied.
   */
  final def withPrefix(prefix: UnsafeRow): Iterator[UnsafeRowPair] = {
    val entries: StateStoreIterator[UnsafeRowPair] = store.withPrefix(prefix)
    if (store.readsSnapshots) store.readBeforeClosing()
    val all =
      if (store.readsSnapshots) new Iterator[UnsafeRowPair] {
        override def hasNext: Boolean = {
          val more = entries.hasNext
          if (!more) entries.close()
          more
        }
        override def next(): UnsafeRowPair = entries.next()
      }
      else {
        def kept(row: UnsafeRow) = if (store.keepsRows) row else row.copy()
        try entries.map(its => new UnsafeRowPair(kept(its.key), kept(its.value))).toArray.iterator
        finally entries.close()
      }
    all.filter(isThere)
  }

  /** The same as [[scan]], until `visit` returns false. */
  final def scanWhile(prefix: UnsafeRow)(visit: (UnsafeRow, UnsafeRow) => Boolean): Unit = {
    val entries = store.withPrefix(prefix)
    try {
      var more = true
      while (more && entries.hasNext) {
        val entry = entries.next()
        if (isThere(entry)) more = visit(entry.key, entry.value)
      }
    } finally entries.close()
  }

  /** See [[KeyedStore.keepsRows]]. */
  final def keepsRows: Boolean = store.keepsRows

  /** See [[KeyedStore.sortsKeys]]. */
  final def sortsKeys: Boolean = store.sortsKeys

  final def all: Iterator[UnsafeRowPair] = {
    val entries: StateStoreIterator[UnsafeRowPair] = store.all()
    if (store.readsSnapshots) store.readBeforeClosing()
    entries.filter(isThere)
  }

  /** See [[KeyedStore.readBeforeClosing]]. */
  final def readBeforeClosing(): Unit = store.readBeforeClosing()

  /**
   * The number of rows in state, from the sum of insertions less retractions. With a time to live,
   * a negative sum comes from retractions of expired rows: they are ignored, and the number is 0.
   */
  def present(rows: Long): Long = rows

  /** Evicts expired entries. */
  def evict(): Unit = ()

  /** Evicts the entries of closed groups, which are not read any more. */
  final def close(groups: ClosedGroups): Unit =
    store.sweep(entry => groups.isOf(entry.key))(counts.removed += _)

  /** Removes entries by their keys. */
  final def removeAll(unwanted: UnsafeRow => Boolean): Unit =
    counts.removed += store.removeWhere(entry => unwanted(entry.key))

  /** The entries of another operator that shares the store, to be read only. */
  final def ofMember(number: Int): StateEntries = new StateEntries(store.ofMember(number), counts)

  protected def isThere(entry: UnsafeRowPair): Boolean = true
}
