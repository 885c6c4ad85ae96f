package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

/**
 * Maps every binary key to its group record: an open-addressing hash table into an arena.
 *
 * A slot is one number: the upper bits of the hash and the address. So most probes touch one cache
 * line of the table and one of the group. Groups are linked in the order of insertion, which is
 * also their order in memory.
 *
 * Memory: at least a third of the slots are free, each 8 bytes.
 */
private[rank] final class KeyTable(arena: RowArena) {
  import KeyTable._

  private[this] var table: Array[Long] = new Array[Long](initialSlots)
  private[this] var mask: Int = initialSlots - 1
  private[this] var keyCount: Int = 0
  private[this] var first: Long = 0L
  private[this] var last: Long = 0L

  /** Keys in the table. */
  def size: Int = keyCount

  /** Bytes of the slots. */
  def bytes: Long = table.length * 8L

  /** The group of the first key, or 0. The others follow by `Group.next`. */
  def firstGroup: Long = first

  /** The group of `key`; for a new key, a group without rows. */
  def groupOf(key: UnsafeRow): Long = {
    val hash = key.hashCode()
    var at = hash & mask
    var slot = table(at)
    while (slot != 0L && !(tagOf(slot) == tagOf(hash) && sameKey(addressIn(slot), key))) {
      at = (at + 1) & mask
      slot = table(at)
    }
    if (slot != 0L) addressIn(slot)
    else {
      val size = key.getSizeInBytes
      val group = add(hash, size, at)
      Platform.copyMemory(
        key.getBaseObject,
        key.getBaseOffset,
        arena.base(group),
        arena.offset(group) + Group.key,
        size.toLong)
      group
    }
  }

  /**
   * The group of a key that is one whole number, so that no row has to be built. A table is used
   * with rows or with numbers, never with both.
   */
  def groupOf(number: Long, isNull: Boolean): Long = {
    val value = if (isNull) 0L else number
    val nulls = if (isNull) 1L else 0L
    val hash = hashOf(value)
    var at = hash & mask
    var slot = table(at)
    while (slot != 0L && !(tagOf(slot) == tagOf(hash) && holds(addressIn(slot), value, nulls))) {
      at = (at + 1) & mask
      slot = table(at)
    }
    if (slot != 0L) addressIn(slot)
    else {
      val group = add(hash, 16, at)
      arena.putLong(group + Group.key, nulls)
      arena.putLong(group + Group.key + 8, value)
      group
    }
  }

  private def holds(group: Long, value: Long, nulls: Long): Boolean = {
    val base = arena.base(group)
    val offset = arena.offset(group) + Group.key
    Platform.getLong(base, offset + 8) == value && Platform.getLong(base, offset) == nulls
  }

  def clear(): Unit = {
    table = new Array[Long](initialSlots)
    mask = initialSlots - 1
    keyCount = 0
    first = 0L
    last = 0L
  }

  private def sameKey(group: Long, key: UnsafeRow): Boolean = {
    val base = arena.base(group)
    val offset = arena.offset(group)
    val size = key.getSizeInBytes
    Platform.getInt(base, offset + Group.keySize) == size && ByteArrayMethods.arrayEquals(
      base,
      offset + Group.key,
      key.getBaseObject,
      key.getBaseOffset,
      size.toLong)
  }

  /** Adds a group for a key of `size` bytes. The caller writes the key. */
  private def add(hash: Int, size: Int, at: Int): Long = {
    val group = arena.allocate(Group.key + size)
    val base = arena.base(group)
    val offset = arena.offset(group)
    Platform.putInt(base, offset + Group.keySize, size)
    Platform.putInt(base, offset + Group.hash, hash)
    Platform.putLong(base, offset + Group.bar, Long.MaxValue)
    Platform.putLong(base, offset + Group.slots, group + Group.firstSlot)
    Platform.putInt(base, offset + Group.size, 0)
    Platform.putInt(base, offset + Group.capacity, 1)
    Platform.putLong(base, offset + Group.ties, 0L)
    Platform.putLong(base, offset + Group.next, 0L)
    if (last == 0L) first = group else arena.putLong(last + Group.next, group)
    last = group
    table(at) = slotOf(hash, group)
    keyCount += 1
    if (keyCount * 3L > table.length * 2L) grow()
    group
  }

  private def grow(): Unit = {
    table = new Array[Long](table.length * 2)
    mask = table.length - 1
    var group = first
    while (group != 0L) {
      val hash = arena.getInt(group + Group.hash)
      var at = hash & mask
      while (table(at) != 0L) at = (at + 1) & mask
      table(at) = slotOf(hash, group)
      group = arena.getLong(group + Group.next)
    }
  }
}

private[rank] object KeyTable {
  private val initialSlots: Int = 1024

  // A slot: 16 bits of the hash, 21 bits of the page, 27 bits of the offset in steps of 8 bytes.
  // Bounds: two million pages, 1 GiB a page.
  private val placeBits = 27
  private val placeMask = (1L << placeBits) - 1
  private val pageMask = (1L << 21) - 1

  private def slotOf(hash: Int, address: Long): Long =
    ((hash >>> 16).toLong << 48) | (address >>> 32 << placeBits) |
      ((address & 0xffffffffL) >>> 3)

  private def addressIn(slot: Long): Long =
    ((slot >>> placeBits & pageMask) << 32) | ((slot & placeMask) << 3)

  private def tagOf(slot: Long): Int = (slot >>> 48).toInt

  private def tagOf(hash: Int): Int = hash >>> 16

  /** Fibonacci hashing: every bit of the number affects the upper half of the product. */
  private def hashOf(number: Long): Int = {
    val product = number * 0x9e3779b97f4a7c15L
    ((product >>> 32) ^ (product >>> 15)).toInt
  }
}

/**
 * The record of one key in the arena: offsets of its fields, in bytes.
 *
 * A slot is a prefix and the address of a row. The record contains one slot itself, so a key with
 * one row needs no other memory for slots.
 */
private[rank] object Group {

  /** Int: bytes of the key. */
  val keySize: Int = 0

  /** Int: hash of the key. */
  val hash: Int = 4

  /** Long: a row with a prefix above this is dropped. */
  val bar: Int = 8

  /** Long: address of the slots. */
  val slots: Int = 16

  /** Int: slots in use. */
  val size: Int = 24

  /** Int: allocated slots. */
  val capacity: Int = 28

  /** The slot in the record. */
  val firstSlot: Int = 32

  /** Long: the first row of the list of ties with the worst row, or 0. */
  val ties: Int = 48

  /** Long: the group inserted next, or 0. */
  val next: Int = 56

  /** Where the key begins. */
  val key: Int = 64

  /** Bytes of a slot. */
  val slotBytes: Int = 16
}
