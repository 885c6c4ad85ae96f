package io.firesteel.changelog.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The entries of each key prefix, the newest first: lists of numbers of entries. */
final private[store] class PrefixChains extends KeyTable {
  private[this] val pages = new BytePages
  private[this] val nothing = new UnsafeRow(0)
  nothing.pointTo(Array.emptyByteArray, 0)

  private[this] var addresses = new Array[Long](16) // of each prefix
  private[this] var heads = new Array[Int](16) // an entry's number and one; 0 if there is none
  private[this] var prefixes = 0
  private[this] var following = new Array[Int](16) // by entry: the next one's number and one

  /** Bytes of memory. */
  def bytes: Long =
    pages.bytes + tableBytes + 8L * addresses.length + 4L * (heads.length + following.length)

  override protected def isKey(number: Int, prefix: UnsafeRow): Boolean =
    pages.isKey(addresses(number), prefix)
  override protected def isThere(number: Int): Boolean = true

  def addEntry(prefix: UnsafeRow, entry: Int): Unit = {
    val hash = BytePages.hash(prefix)
    var at = find(prefix, hash)
    if (at < 0) {
      if (prefixes == heads.length) {
        addresses = java.util.Arrays.copyOf(addresses, 2 * prefixes)
        heads = java.util.Arrays.copyOf(heads, 2 * prefixes)
      }
      at = prefixes
      addresses(at) = pages.add(prefix, nothing)
      prefixes += 1
      addSought(hash, at)
    }
    if (entry >= following.length) {
      following = java.util.Arrays.copyOf(following, math.max(entry + 1, 2 * following.length))
    }
    following(entry) = heads(at)
    heads(at) = entry + 1
  }

  /**
   * The entries of a prefix. Those that are gone leave the list; an entry that comes back has
   * another number. Entries may come and go while they are read.
   */
  def entries(prefix: UnsafeRow, addresses: Addresses): Chain =
    new Chain(find(prefix, BytePages.hash(prefix)), addresses)

  /** @param prefix its number; -1 if it has no entries */
  final class Chain(prefix: Int, addresses: Addresses) {
    private[this] var before = -1 // the last entry that was there, or none
    private[this] var entry = if (prefix < 0) -1 else heads(prefix) - 1

    /** The address of the next entry; 0 if there is none. */
    def next(): Long = {
      var address = 0L
      while (address == 0L && entry >= 0) {
        val after = following(entry)
        address = addresses(entry)
        if (address != 0L) before = entry
        else if (before >= 0) following(before) = after
        else if (heads(prefix) == entry + 1) heads(prefix) = after
        entry = after - 1
      }
      address
    }
  }
}
