package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

/**
 * The group record of every binary key: an open-addressing hash table into an arena.
 *
 * Memory: at least half of the slots are free, each 12 bytes.
 */
private[rank] final class KeyTable(arena: RowArena) {

  private[this] var hashes: Array[Int] = new Array[Int](KeyTable.initialSlots)
  private[this] var groups: Array[Long] = new Array[Long](KeyTable.initialSlots)
  private[this] var mask: Int = KeyTable.initialSlots - 1
  private[this] var keyCount: Int = 0

  /** Keys in the table. */
  def size: Int = keyCount

  /** Bytes of the slots. */
  def bytes: Long = hashes.length * 12L

  /** The group of `key`; one that has no slots yet if the key is new. */
  def groupOf(key: UnsafeRow): Long = {
    val hash = KeyTable.hashOf(key)
    var at = hash & mask
    while (hashes(at) != 0 && !(hashes(at) == hash && sameKey(groups(at), key))) {
      at = (at + 1) & mask
    }
    if (hashes(at) != 0) groups(at) else add(hash, key, at)
  }

  /** Calls `use` with every group, in no particular order. */
  def iterator: Iterator[Long] = groups.iterator.filter(_ != 0L)

  def clear(): Unit = {
    hashes = new Array[Int](KeyTable.initialSlots)
    groups = new Array[Long](KeyTable.initialSlots)
    mask = KeyTable.initialSlots - 1
    keyCount = 0
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

  private def add(hash: Int, key: UnsafeRow, at: Int): Long = {
    val size = key.getSizeInBytes
    val group = arena.allocate(Group.key + size)
    val base = arena.base(group)
    val offset = arena.offset(group)
    Platform.setMemory(base, offset, Group.key.toLong, 0.toByte)
    Platform.putInt(base, offset + Group.keySize, size)
    Platform.putLong(base, offset + Group.bar, Long.MaxValue)
    Platform.putLong(base, offset + Group.slots, group + Group.firstSlot)
    Platform.putInt(base, offset + Group.capacity, 1)
    Platform.copyMemory(
      key.getBaseObject,
      key.getBaseOffset,
      base,
      offset + Group.key,
      size.toLong)
    hashes(at) = hash
    groups(at) = group
    keyCount += 1
    if (keyCount * 2L > hashes.length) grow()
    group
  }

  private def grow(): Unit = {
    val oldHashes = hashes
    val oldGroups = groups
    hashes = new Array[Int](oldHashes.length * 2)
    groups = new Array[Long](oldHashes.length * 2)
    mask = hashes.length - 1
    var from = 0
    while (from < oldHashes.length) {
      if (oldHashes(from) != 0) {
        var at = oldHashes(from) & mask
        while (hashes(at) != 0) at = (at + 1) & mask
        hashes(at) = oldHashes(from)
        groups(at) = oldGroups(from)
      }
      from += 1
    }
  }
}

private[rank] object KeyTable {
  private val initialSlots: Int = 1024

  /** Never 0, which marks a free slot. */
  private def hashOf(key: UnsafeRow): Int = {
    val hash = key.hashCode()
    if (hash == 0) 1 else hash
  }
}

/**
 * The record of one key in the arena: places of its fields, in bytes.
 *
 * A slot is a prefix and the address of a row. One slot lies in the record itself, so that a key
 * with one row needs no more.
 */
private[rank] object Group {

  /** Int: bytes of the key. */
  val keySize: Int = 0

  /** Long: no row with a prefix above this can be kept. */
  val bar: Int = 8

  /** Long: address of the slots. */
  val slots: Int = 16

  /** Int: slots in use. */
  val size: Int = 24

  /** Int: slots there are. */
  val capacity: Int = 28

  /** The slot in the record. */
  val firstSlot: Int = 32

  /** Long: the first of the rows that tie with the worst, or 0. */
  val ties: Int = 48

  /** Where the key begins. */
  val key: Int = 56

  /** Bytes of a slot. */
  val slotBytes: Int = 16
}
