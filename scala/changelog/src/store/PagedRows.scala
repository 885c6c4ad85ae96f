package io.firesteel.changelog.store

import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair
import org.apache.spark.sql.types.StructType

/**
 * Keys and values of a state store as bytes in large arrays, not as objects: some 24 bytes beside
 * those of the rows, where a map of rows has 150, and nothing for a garbage collector to follow.
 *
 * An entry has a number, and its address by that number. A new value is another pair of rows, so rows
 * that were returned stay valid. What was [[frozen]] shows the entries as they were, also to other
 * threads. Keys are the same if their bytes are, as in Spark's providers.
 *
 * @param prefixColumns number of columns by which [[withPrefix]] finds keys; 0 if it never does
 */
final private[store] class PagedRows(key: StructType, value: StructType, prefixColumns: Int)
  extends KeyTable {
  import PagedRows._

  private[this] val pages = new BytePages
  private[this] val addresses = new Addresses
  private[this] val (keyFields, valueFields) = (key.length, value.length)
  private[this] var entries = 0 // those that are gone included
  private[this] var live = 0
  private[this] var liveBytes = 0L
  private[this] var chains: Option[PrefixChains] = None

  /** The columns of a key's prefix, as a row of their own. */
  private[this] val prefixOf: UnsafeProjection =
    if (prefixColumns == 0) null
    else UnsafeProjection.create(key.fields.take(prefixColumns).toSeq.zipWithIndex.map {
      case (column, i) => BoundReference(i, column.dataType, column.nullable)
    })
  if (prefixColumns > 0) chains = Some(new PrefixChains)

  override protected def isKey(entry: Int, key: UnsafeRow): Boolean = {
    val address = addresses(entry)
    address != 0L && pages.isKey(address, key)
  }

  override protected def isThere(entry: Int): Boolean = addresses(entry) != 0L

  def size: Int = live

  /** The value of a key; null if there is none. */
  def get(key: UnsafeRow): UnsafeRow = {
    val entry = find(key, BytePages.hash(key))
    if (entry < 0) null
    else {
      val row = new UnsafeRow(valueFields)
      BytePages.readValue(pages.all, addresses(entry), row)
      row
    }
  }

  def put(key: UnsafeRow, value: UnsafeRow): Unit = {
    val hash = BytePages.hash(key)
    val known = find(key, hash)
    if (known >= 0) liveBytes -= BytePages.sizeOf(pages.all, addresses(known))
    val address = pages.add(key, value)
    if (known >= 0) addresses(known) = address
    else {
      val entry = added(address, hash)
      chains.foreach(_.addEntry(prefixOf(key), entry))
    }
    liveBytes += BytePages.sizeOf(pages.all, address)
  }

  private def added(address: Long, hash: Int): Int = {
    val entry = entries
    addresses(entry) = address
    entries += 1
    live += 1
    add(hash, entry)
    entry
  }

  /** Whether the key was there. */
  def remove(key: UnsafeRow): Boolean = {
    val entry = find(key, BytePages.hash(key))
    if (entry >= 0) {
      liveBytes -= BytePages.sizeOf(pages.all, addresses(entry))
      addresses(entry) = 0L
      live -= 1
    }
    entry >= 0
  }

  /** The entries. Keys that are added meanwhile are not among them. */
  def all: Iterator[UnsafeRowPair] =
    shown(Iterator.range(0, entries).filter(addresses(_) != 0L))

  /** The entries of a prefix. */
  def withPrefix(prefix: UnsafeRow): Iterator[UnsafeRowPair] =
    chains.fold(Iterator.empty[UnsafeRowPair]) { its =>
      shown(its.entries(prefix)(addresses(_) != 0L))
    }

  private def shown(numbers: Iterator[Int]): Iterator[UnsafeRowPair] =
    numbers.map(entry => pair(pages.all, addresses(entry), keyFields, valueFields))

  /** The entries as they are now. */
  def frozen(): Frozen =
    new Frozen(
      pages.all,
      addresses.frozen(entries),
      entries,
      live,
      liveBytes,
      keyFields,
      valueFields)

  /** Goes back to what was frozen. Time: that of reading each key. */
  def restore(frozen: Frozen): Unit = {
    addresses.restore(frozen.blocks)
    entries = frozen.entries
    live = frozen.size
    liveBytes = frozen.bytes
    clear(live)
    if (prefixColumns > 0) chains = Some(new PrefixChains)
    val row = new UnsafeRow(keyFields)
    var entry = 0
    while (entry < entries) {
      val address = addresses(entry)
      if (address != 0L) {
        BytePages.readKey(pages.all, address, row)
        add(BytePages.hash(row), entry)
        chains.foreach(_.addEntry(prefixOf(row), entry))
      }
      entry += 1
    }
  }

  /**
   * These entries, or if most of the memory is of entries that are gone and of old values a copy
   * without these.
   */
  def tidy(): PagedRows = {
    val bytes = pages.bytes + chains.fold(0L)(_.bytes) + perEntry * entries
    if (bytes <= 2 * (liveBytes + perEntry * live) + spare) this else copied()
  }

  private def copied(): PagedRows = {
    val copy = new PagedRows(key, value, prefixColumns)
    copy.clear(live)
    val row = new UnsafeRow(keyFields)
    var entry = 0
    while (entry < entries) {
      val address = addresses(entry)
      if (address != 0L) {
        BytePages.readKey(pages.all, address, row)
        copy.append(pages.all, address, row)
      }
      entry += 1
    }
    copy
  }

  private def append(from: Array[Array[Byte]], address: Long, key: UnsafeRow): Unit = {
    val entry = added(pages.copy(from, address), BytePages.hash(key))
    chains.foreach(_.addEntry(prefixOf(key), entry))
    liveBytes += BytePages.sizeOf(from, address)
  }
}

private[store] object PagedRows {

  /** Bytes of an entry in the tables. */
  private val perEntry = 24L

  /** Bytes that may be wasted in any case. */
  private val spare = 1L << 20

  private def pair(arrays: Array[Array[Byte]], address: Long, keyFields: Int, valueFields: Int) = {
    val (key, value) = (new UnsafeRow(keyFields), new UnsafeRow(valueFields))
    BytePages.readKey(arrays, address, key)
    BytePages.readValue(arrays, address, value)
    new UnsafeRowPair(key, value)
  }

  /**
   * The entries as they were at one time. It never changes.
   *
   * @param entries their number, those that were gone included
   * @param size their number
   * @param bytes of their rows
   */
  final class Frozen(
      arrays: Array[Array[Byte]],
      private[PagedRows] val blocks: Array[Array[Long]],
      private[PagedRows] val entries: Int,
      val size: Int,
      private[PagedRows] val bytes: Long,
      keyFields: Int,
      valueFields: Int) {

    def all: Iterator[UnsafeRowPair] =
      Iterator.range(0, entries).map(Addresses.of(blocks, _)).filter(_ != 0L)
        .map(pair(arrays, _, keyFields, valueFields))
  }
}
