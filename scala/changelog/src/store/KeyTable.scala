package io.firesteel.changelog.store

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Numbers of keys: an open-addressing hash table with linear probing, at most half full. It has the
 * hashes, and whoever extends it the keys.
 */
abstract private[store] class KeyTable {
  private[this] var slots = new Array[Long](32) // the hash, and the number and one; 0 is free
  private[this] var used = 0
  private[this] var vacant = -1 // a slot with the hash that was looked for, of a key that is gone

  /** Bytes of the table. */
  final def tableBytes: Long = slots.length * 8L

  /** Whether this is the number of this key. */
  protected def isKey(number: Int, key: UnsafeRow): Boolean

  /** Whether the key of this number is still there. */
  protected def isThere(number: Int): Boolean

  /** The number of a key; -1 if it has none. */
  final def find(key: UnsafeRow, hash: Int): Int = {
    val (all, mask) = (slots, slots.length - 1)
    var at = hash & mask
    var number = -1
    var slot = all(at)
    vacant = -1
    while (number < 0 && slot != 0L) {
      if ((slot >>> 32).toInt == hash) {
        if (isKey(slot.toInt - 1, key)) number = slot.toInt - 1
        else if (vacant < 0 && !isThere(slot.toInt - 1)) vacant = at
      }
      at = (at + 1) & mask
      slot = all(at)
    }
    number
  }

  /** Adds the key that was not found last: one that comes and goes has one slot. */
  final def addSought(hash: Int, number: Int): Unit =
    if (vacant < 0) add(hash, number)
    else {
      slots(vacant) = slot(hash, number)
      vacant = -1
    }

  /** Adds a key that has no number. */
  final def add(hash: Int, number: Int): Unit = {
    if (2L * (used + 1) > slots.length) rebuild()
    put(slots, slot(hash, number))
    used += 1
    vacant = -1
  }

  /** Forgets all keys, and takes this number of them without growing. */
  final def clear(expected: Int): Unit = {
    val needed = math.max(32L, 4L * expected)
    slots = new Array[Long](java.lang.Long.highestOneBit(2 * needed - 1).toInt)
    used = 0
    vacant = -1
  }

  /** Leaves out the keys that are gone. */
  private def rebuild(): Unit = {
    val there = slots.filter(slot => slot != 0L && isThere(slot.toInt - 1))
    clear(there.length)
    there.foreach(put(slots, _))
    used = there.length
  }

  private def slot(hash: Int, number: Int): Long = hash.toLong << 32 | (number + 1L)

  private def put(all: Array[Long], slot: Long): Unit = {
    val mask = all.length - 1
    var at = (slot >>> 32).toInt & mask
    while (all(at) != 0L) at = (at + 1) & mask
    all(at) = slot
  }
}
