package io.firesteel.changelog.store

import io.firesteel.core.rows.ColumnProjection

import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair
import org.apache.spark.sql.types.StructType

/**
 * Keys and values of a state store as bytes in large arrays, not as objects. Beside its rows an entry
 * takes 8 bytes for their sizes, 8 for its address and 16 to 64 in the hash table, and there is nothing
 * for a garbage collector to follow.
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

  private[this] var pages = new BytePages
  private[this] var mostBytes = spare // of pages, before old values are left behind
  private[this] val addresses = new Addresses
  private[this] val (keyFields, valueFields) = (key.length, value.length)
  private[this] var entries = 0 // those that are gone included
  private[this] var live = 0
  private[this] var liveBytes = 0L
  private[this] var chains: Option[PrefixChains] = None

  /** The columns of a key's prefix, as a row of their own. */
  private[this] val prefixOf: UnsafeProjection =
    if (prefixColumns == 0) null
    else ColumnProjection(key.fields.take(prefixColumns).toSeq.zipWithIndex.map {
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
      addSought(hash, entries)
      chains.foreach(_.addEntry(prefixOf(key), entries))
      added(address)
    }
    liveBytes += BytePages.sizeOf(pages.all, address)
    if (pages.bytes > mostBytes) repack()
  }

  private def added(address: Long): Unit = {
    addresses(entries) = address
    entries += 1
    live += 1
  }

  /**
   * Leaves old values behind if most of the pages are of them: a value may be written often in one
   * micro-batch. Entries keep their numbers, and what was frozen keeps its pages.
   */
  private def repack(): Unit = {
    if (pages.bytes > mostWorth) {
      val packed = new BytePages
      var entry = 0
      while (entry < entries) {
        val address = addresses(entry)
        if (address != 0L) addresses(entry) = packed.copy(pages.all, address)
        entry += 1
      }
      pages = packed
    }
    mostBytes = math.max(2 * pages.bytes, mostWorth)
  }

  /** Each entry is looked at, also one that is gone, so there must be something to gain for it. */
  private def mostWorth: Long = 3 * liveBytes + 8L * entries + spare

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
      pages.now,
      addresses.frozen(entries),
      entries,
      live,
      liveBytes,
      keyFields,
      valueFields)

  /**
   * Goes back to what was frozen last, or to where it has gone back before. Time: that of reading
   * each key.
   */
  def restore(frozen: Frozen): Unit = {
    // What was written since then may still be read, so it is not overwritten.
    pages = new BytePages(frozen.arrays)
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
  def tidy(): PagedRows = {
    val each = if (prefixColumns > 0) besideInChain else 8L
    val (all, wanted) = (pages.bytes + each * entries, liveBytes + each * live)
    if (2 * (all - spare) <= 3 * wanted) this else copied()
  }

  /** Bytes of memory. */
  def bytes: Long =
    pages.bytes + addresses.bytes(entries) + tableBytes + chains.fold(0L)(_.bytes)

  private def copied(): PagedRows = {
    val copy = new PagedRows(key, value, prefixColumns)
    copy.clear(live)
    val row = new UnsafeRow(keyFields)
    var entry = 0
    while (entry < entries) {
      val address = addresses(entry)
      if (address != 0L) copy.append(pages.all, address, row)
      entry += 1
    }
    copy
  }

  /** Adds a pair of other pages, whose key is not there. */
  private def append(from: Array[Array[Byte]], address: Long, row: UnsafeRow): Unit = {
    BytePages.readKey(from, address, row)
    add(BytePages.hash(row), entries)
    chains.foreach(_.addEntry(prefixOf(row), entries))
    added(pages.copy(from, address))
    liveBytes += BytePages.sizeOf(from, address)
  }

  /** Adds what was frozen of other rows; there must be none yet. */
  def fill(frozen: Frozen): Unit = {
    clear(frozen.size)
    val row = new UnsafeRow(keyFields)
    frozen.addresses.foreach(append(frozen.arrays, _, row))
  }
}

private[store] object PagedRows {

  /** Bytes that may be wasted in any case. */
  private val spare = 64L * 1024

  /**
   * Bytes of an entry beside its rows, and of a prefix of its own, at most: addresses, the place in
   * the chain, the prefix' pair of rows, and its slot in a hash table, see [[PrefixChains]].
   */
  private val besideInChain = 100L

  /** Pairs of rows by their addresses; the pair is reused, the rows are not. */
  abstract private class Pairs(keyFields: Int, valueFields: Int) extends Iterator[UnsafeRowPair] {
    private[this] val pair = new UnsafeRowPair
    private[this] var address = 0L
    private[this] var pages: Array[Array[Byte]] = _

    /** The pages as they are now. */
    protected def arrays: Array[Array[Byte]]

    /** The next address there; 0 if there is none. */
    protected def following(): Long

    final override def hasNext: Boolean = {
      if (address == 0L) {
        address = following()
        pages = arrays
      }
      address != 0L
    }

    final override def next(): UnsafeRowPair = {
      if (!hasNext) Iterator.empty.next()
      val (key, value) = (new UnsafeRow(keyFields), new UnsafeRow(valueFields))
      BytePages.readKey(pages, address, key)
      BytePages.readValue(pages, address, value)
      address = 0L
      pair.withRows(key, value)
    }
  }

  /**
   * The entries as they were at one time. It never changes.
   *
   * @param arrays the pages as they were; more may be in use by now
   * @param entries their number, those that were gone included
   * @param size their number
   * @param bytes of their rows
   */
  final class Frozen(
      private[PagedRows] val arrays: Array[Array[Byte]],
      private[PagedRows] val blocks: Array[Array[Long]],
      private[PagedRows] val entries: Int,
      val size: Int,
      private[PagedRows] val bytes: Long,
      keyFields: Int,
      valueFields: Int) {

    private[PagedRows] def addresses: Iterator[Long] =
      Iterator.range(0, entries).map(Addresses.of(blocks, _)).filter(_ != 0L)

    def all: Iterator[UnsafeRowPair] = {
      val (entries, blocks, pages) = (this.entries, this.blocks, arrays)
      new Pairs(keyFields, valueFields) {
        private[this] var entry = 0

        override protected def arrays: Array[Array[Byte]] = pages
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
}
