package io.firesteel.core.rows

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Numbers the groups of an aggregate 0, 1, 2, … in the order in which their keys arrive, so that
 * the data of a group can lie in arrays.
 *
 * Keys are compared by their bytes: the caller has normalised floating-point numbers and collated
 * strings. An index is used either with rows or, if the key is one whole number, with numbers.
 *
 * Memory: an open-addressing table with 4 bytes per slot; at least one third of it is free, or two
 * thirds while it fits the processor's cache. In addition, each group's hash and key.
 */
private[firesteel] final class GroupIndex {
  import GroupIndex._

  private[this] var table = new Array[Int](initialSlots) // a group's number + 1, or 0
  private[this] var hashes = new Array[Int](initialGroups)
  private[this] var numbers: Array[Long] = Array.emptyLongArray
  private[this] var small = Array.emptyIntArray // a small number's group + 1, found without a hash
  private[this] var rows: Array[UnsafeRow] = Array.empty[UnsafeRow]
  private[this] var nullGroup = -1
  private[this] var count = 0
  private[this] var rowBytes = 0L

  /** Number of groups. */
  def size: Int = count

  /** Bytes that are held, by estimate. */
  def bytes: Long =
    table.length * 4L + hashes.length * 4L + small.length * 4L + numbers.length * 8L + rowBytes

  /** The group of `key`; a new key is copied. */
  def of(key: UnsafeRow): Int = {
    val hash = key.hashCode()
    val mask = table.length - 1
    var at = hash & mask
    var group = table(at) - 1
    while (group >= 0 && !(hashes(group) == hash && rows(group).equals(key))) {
      at = (at + 1) & mask
      group = table(at) - 1
    }
    if (group >= 0) group
    else {
      val added = add(hash, at)
      if (added >= rows.length)
        rows = Arrays.copyOf(rows, math.max(initialGroups, rows.length * 2))
      rows(added) = key.copy()
      rowBytes += key.getSizeInBytes + rowOverhead
      added
    }
  }

  /** The group of a key that is one whole number. */
  def of(number: Long): Int = {
    val known = if (number >= 0L && number < small.length) small(number.toInt) - 1 else -1
    if (known >= 0) known else find(number)
  }

  private def find(number: Long): Int = {
    val hash = hashOf(number)
    val mask = table.length - 1
    var at = hash & mask
    var group = table(at) - 1
    while (group >= 0 && numbers(group) != number) {
      at = (at + 1) & mask
      group = table(at) - 1
    }
    if (group < 0) {
      group = add(hash, at)
      setNumber(group, number)
      if (number >= 0L && number < mostSmall) setSmall(number.toInt, group)
    }
    group
  }

  private def setSmall(number: Int, group: Int): Unit = {
    if (number >= small.length)
      small = Arrays.copyOf(small, math.max(initialSlots, Integer.highestOneBit(number) * 2))
    small(number) = group + 1
  }

  /** The group of null among whole numbers. */
  def ofNull(): Int = {
    if (nullGroup < 0) {
      nullGroup = count
      count += 1
      if (count > hashes.length) hashes = Arrays.copyOf(hashes, hashes.length * 2)
      setNumber(nullGroup, 0L)
    }
    nullGroup
  }

  /** The hash of a group's key, the same in every task. */
  def hash(group: Int): Int = hashes(group)

  def row(group: Int): UnsafeRow = rows(group)

  def number(group: Int): Long = numbers(group)

  def isNull(group: Int): Boolean = group == nullGroup

  def clear(): Unit = {
    table = new Array[Int](initialSlots)
    hashes = new Array[Int](initialGroups)
    numbers = Array.emptyLongArray
    small = Array.emptyIntArray
    rows = Array.empty[UnsafeRow]
    nullGroup = -1
    count = 0
    rowBytes = 0L
  }

  private def setNumber(group: Int, number: Long): Unit = {
    if (group >= numbers.length)
      numbers = Arrays.copyOf(numbers, math.max(initialGroups, numbers.length * 2))
    numbers(group) = number
  }

  private def add(hash: Int, at: Int): Int = {
    val group = count
    count += 1
    table(at) = count
    if (count > hashes.length) hashes = Arrays.copyOf(hashes, hashes.length * 2)
    hashes(group) = hash
    if (count * 3L > (if (table.length > cachedSlots) table.length * 2L else table.length)) grow()
    group
  }

  private def grow(): Unit = {
    table = new Array[Int](table.length * 2)
    val mask = table.length - 1
    var group = 0
    while (group < count) {
      if (group != nullGroup) {
        var at = hashes(group) & mask
        while (table(at) != 0) at = (at + 1) & mask
        table(at) = group + 1
      }
      group += 1
    }
  }
}

private[firesteel] object GroupIndex {
  private val initialSlots = 256
  private val cachedSlots = 1 << 14
  private val initialGroups = 64
  private val mostSmall = 4096 // their groups fit the processor's cache
  private val rowOverhead = 64L // two objects and a reference

  /** Whole numbers also represent doubles and timestamps, whose bits may differ in any place. */
  private def hashOf(number: Long): Int = Mix64(number).toInt
}
