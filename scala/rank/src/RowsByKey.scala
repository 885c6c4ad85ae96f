package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.array.ByteArrayMethods

/**
 * The kept rows of every key: an open-addressing hash table over binary keys.
 *
 * Hashes lie in an array of their own, so that most probes touch no entry. Memory: at least half of
 * the slots are free; `bytes` says what keys and slots take, rows not included.
 */
private[rank] final class RowsByKey(newRows: (Int, Array[Byte]) => KeptRows) {

  private[this] var entries: Array[KeptRows] = new Array[KeptRows](RowsByKey.initialSlots)
  private[this] var hashes: Array[Int] = new Array[Int](RowsByKey.initialSlots)
  private[this] var mask: Int = RowsByKey.initialSlots - 1
  private[this] var keyCount: Int = 0
  private[this] var keyBytes: Long = 0L

  /** Keys in the table. */
  def size: Int = keyCount

  /** Bytes of keys and slots. */
  def bytes: Long = keyBytes + entries.length * 12L

  /** The rows of `key`, a new entry if there is none yet. */
  def of(key: UnsafeRow): KeptRows = {
    val hash = RowsByKey.hashOf(key)
    var at = hash & mask
    while (hashes(at) != 0 && !(hashes(at) == hash && sameKey(entries(at).key, key))) {
      at = (at + 1) & mask
    }
    if (hashes(at) != 0) entries(at) else add(hash, key, at)
  }

  /** Takes every entry out, in no particular order, letting go of each as it is taken. */
  def drain(): Iterator[KeptRows] = {
    val taken = entries
    entries = new Array[KeptRows](RowsByKey.initialSlots)
    hashes = new Array[Int](RowsByKey.initialSlots)
    mask = RowsByKey.initialSlots - 1
    keyCount = 0
    keyBytes = 0L
    taken.indices.iterator.filter(taken(_) != null).map { at =>
      val entry = taken(at)
      taken(at) = null
      entry
    }
  }

  private def sameKey(kept: Array[Byte], key: UnsafeRow): Boolean =
    kept.length == key.getSizeInBytes && ByteArrayMethods.arrayEquals(
      kept,
      Platform.BYTE_ARRAY_OFFSET.toLong,
      key.getBaseObject,
      key.getBaseOffset,
      kept.length.toLong)

  private def add(hash: Int, key: UnsafeRow, at: Int): KeptRows = {
    val entry = newRows(hash, RowOrder.copy(key))
    entries(at) = entry
    hashes(at) = hash
    keyCount += 1
    keyBytes += entry.key.length + KeptRows.keyOverhead
    if (keyCount * 2L > entries.length) grow()
    entry
  }

  private def grow(): Unit = {
    val (oldEntries, oldHashes) = (entries, hashes)
    entries = new Array[KeptRows](oldEntries.length * 2)
    hashes = new Array[Int](oldEntries.length * 2)
    mask = entries.length - 1
    var from = 0
    while (from < oldHashes.length) {
      if (oldHashes(from) != 0) {
        var at = oldHashes(from) & mask
        while (hashes(at) != 0) at = (at + 1) & mask
        hashes(at) = oldHashes(from)
        entries(at) = oldEntries(from)
      }
      from += 1
    }
  }
}

private[rank] object RowsByKey {
  val initialSlots: Int = 1024

  /** Never 0, which marks a free slot. */
  private def hashOf(key: UnsafeRow): Int = {
    val hash = key.hashCode()
    if (hash == 0) 1 else hash
  }
}
