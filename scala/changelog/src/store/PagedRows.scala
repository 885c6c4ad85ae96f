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
  def all: Iterator[UnsafeRowPair] = new Pairs(keyFields, valueFields) {
    private[this] val last = entries
    private[this] var entry = 0

    override protected def arrays: Array[Array[Byte]] = pages.all
    override protected def following(): Long = {
      var address = 0L
      while (address == 0L && entry < last) {
        address = addresses(entry)
        entry += 1
      }
      address
    }
  }

  /** The entries of a prefix. */
  def withPrefix(prefix: UnsafeRow): Iterator[UnsafeRowPair] =
    chains.fold(Iterator.empty[UnsafeRowPair]) { its =>
      val chain = its.entries(prefix, addresses)
      new Pairs(keyFields, valueFields) {
        override protected def arrays: Array[Array[Byte]] = pages.all
        override protected def following(): Long = chain.next()
      }
    }

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
   * These entries, or if a third of the memory is of entries that are gone and of old values a copy
   * without these.
   */
  def tidy(): PagedRows =
    if (2 * (bytes - spare) <= 3 * (liveBytes + perEntry * live)) this else copied()

  /**
   * Bytes of memory, by estimate. A prefix of which all entries are gone has fewer bytes than these
   * had: it need not be counted.
   */
  def bytes: Long = pages.bytes + perEntry * entries

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

  /** Pairs of rows by their addresses; the pair is reused, the rows are not. */
  abstract private class Pairs(keyFields: Int, valueFields: Int) extends Iterator[UnsafeRowPair] {
    private[this] val pair = new UnsafeRowPair
    private[this] var address = 0L

    protected def arrays: Array[Array[Byte]]

    /** The next address; 0 if there is none. */
    protected def following(): Long

    final override def hasNext: Boolean = {
      if (address == 0L) address = following()
      address != 0L
    }

    final override def next(): UnsafeRowPair = {
      if (!hasNext) Iterator.empty.next()
      val (key, value) = (new UnsafeRow(keyFields), new UnsafeRow(valueFields))
      BytePages.readKey(arrays, address, key)
      BytePages.readValue(arrays, address, value)
      address = 0L
      pair.withRows(key, value)
    }
  }

  /**
   * The entries as they were at one time. It never changes.
   *
   * @param entries their number, those that were gone included
   * @param size their number
   * @param bytes of their rows
   */
  final class Frozen(
      bytePages: Array[Array[Byte]],
      private[PagedRows] val blocks: Array[Array[Long]],
      private[PagedRows] val entries: Int,
      val size: Int,
      private[PagedRows] val bytes: Long,
      keyFields: Int,
      valueFields: Int) {

    def all: Iterator[UnsafeRowPair] = new Pairs(keyFields, valueFields) {
      private[this] var entry = 0

      override protected def arrays: Array[Array[Byte]] = bytePages
      override protected def following(): Long = {
        var address = 0L
        while (address == 0L && entry < entries) {
          address = Addresses.of(blocks, entry)
          entry += 1
        }
        address
      }
    }
  }
}
