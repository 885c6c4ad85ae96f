package io.firesteel.changelog.fold

import io.firesteel.core.rows.Mix64

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * How many rows each distinct value of each group gains or loses: one tally, or one for each of
 * several filters of the same values.
 *
 * Memory: an open-addressing table, at least one third of it free, with 4 bytes per slot; 8 bytes
 * per value, 8 per tally, and 8 for a number; and the row of a value that is none. What belongs to a
 * value lies together: with many values each place that is read is one that no cache has.
 *
 * @param isNumber whether a value is one field of eight bytes
 * @param tallies how many tallies a value has
 */
final private[changelog] class ValueTallies(val isNumber: Boolean, tallies: Int = 1) {
  import ValueTallies._

  // An entry: its hash and group, its number if it is one, its tallies.
  private[this] val countsAt = if (isNumber) 2 else 1
  private[this] val width = countsAt + tallies

  private[this] var table = new Array[Int](initialSlots) // an entry's number + 1, or 0
  private[this] var words = new Array[Long](initialEntries * width)
  private[this] var rows = if (isNumber) null else new Array[UnsafeRow](initialEntries)
  private[this] var entries = 0
  private[this] var rowBytes = 0L

  /** Number of entries. */
  def size: Int = entries

  /** Bytes that are held, by estimate. */
  def bytes: Long = table.length * 4L + words.length * 8L + rowBytes

  def number(entry: Int): Long = words(entry * width + 1)
  def row(entry: Int): UnsafeRow = rows(entry)
  def count(entry: Int, tally: Int = 0): Long = words(entry * width + countsAt + tally)

  /** A hash of the value, without the group; the same in every task. */
  def hash(entry: Int): Int = (words(entry * width) >>> 32).toInt

  private def groupOf(entry: Int): Int = words(entry * width).toInt

  /** Adds to the tally of a number of a group. */
  def addNumber(group: Int, number: Long, count: Long): Unit =
    addTo(ofNumber(group, number), count)

  /** Adds to the tally of a row of a group; a new one is copied. */
  def addRow(group: Int, value: UnsafeRow, count: Long): Unit = addTo(ofRow(group, value), count)

  /** Adds to a tally of an entry. */
  def addTo(entry: Int, count: Long, tally: Int = 0): Unit =
    words(entry * width + countsAt + tally) += count

  /** The entry of a value; a new entry counts 0 rows. */
  def of(group: Int, value: UnsafeRow): Int =
    if (isNumber) ofNumber(group, value.getLong(0)) else ofRow(group, value)

  /** The entry of a value that is a row. */
  def ofRow(group: Int, value: UnsafeRow): Int = {
    val head = headOf(value.hashCode, group)
    val mask = table.length - 1
    var at = slot(head) & mask
    var entry = table(at) - 1
    while (entry >= 0 && !(words(entry * width) == head && rows(entry).equals(value))) {
      at = (at + 1) & mask
      entry = table(at) - 1
    }
    if (entry < 0) {
      entry = enter(at, head)
      rows(entry) = value.copy()
      rowBytes += value.getSizeInBytes + rowOverhead
    }
    entry
  }

  /** The entry of a number in a group; a new entry counts 0 rows. */
  def ofNumber(group: Int, number: Long): Int = {
    val head = headOf(Mix64(number).toInt, group)
    val mask = table.length - 1
    var at = slot(head) & mask
    var entry = table(at) - 1
    while (entry >= 0 && !(words(entry * width + 1) == number && words(entry * width) == head)) {
      at = (at + 1) & mask
      entry = table(at) - 1
    }
    if (entry < 0) {
      entry = enter(at, head)
      words(entry * width + 1) = number
    }
    entry
  }

  /** All entries ordered by group; `starts(g)` is the index of group `g`'s first entry. */
  def byGroup(groupCount: Int): (Array[Int], Array[Int]) = {
    val starts = new Array[Int](groupCount + 1)
    var entry = 0
    while (entry < entries) {
      starts(groupOf(entry) + 1) += 1
      entry += 1
    }
    var group = 0
    while (group < groupCount) {
      starts(group + 1) += starts(group)
      group += 1
    }
    val (order, next) = (new Array[Int](entries), starts.clone())
    entry = 0
    while (entry < entries) {
      order(next(groupOf(entry))) = entry
      next(groupOf(entry)) += 1
      entry += 1
    }
    (order, starts)
  }

  /**
   * Writes the entries of `order(from until until)` that have rows in a tally into `kept`, in their
   * order; returns how many they are.
   */
  def present(order: Array[Int], from: Int, until: Int, tally: Int, kept: Array[Int]): Int = {
    var (n, i) = (0, from)
    while (i < until) {
      if (count(order(i), tally) != 0L) {
        kept(n) = order(i)
        n += 1
      }
      i += 1
    }
    n
  }

  def clear(): Unit = {
    if (table.length > keptSlots || words.length > keptWords) {
      table = new Array[Int](initialSlots)
      resize(initialEntries)
    } else Arrays.fill(table, 0)
    if (rows != null) Arrays.fill(rows.asInstanceOf[Array[AnyRef]], null)
    entries = 0
    rowBytes = 0L
  }

  private def enter(at: Int, head: Long): Int = {
    val entry = entries
    entries += 1
    if (entries * width > words.length) resize(words.length / width * 2)
    table(at) = entries
    words(entry * width) = head
    Arrays.fill(words, entry * width + countsAt, entries * width, 0L)
    if (entries * 3L > table.length * 2L) rehash()
    entry
  }

  private def resize(length: Int): Unit = {
    words = Arrays.copyOf(words, Math.multiplyExact(length, width))
    if (!isNumber) rows = Arrays.copyOf(rows, length)
  }

  private def rehash(): Unit = {
    table = new Array[Int](table.length * 2)
    val mask = table.length - 1
    var entry = 0
    while (entry < entries) {
      var at = slot(words(entry * width)) & mask
      while (table(at) != 0) at = (at + 1) & mask
      table(at) = entry + 1
      entry += 1
    }
  }
}

private[changelog] object ValueTallies {
  private val initialSlots = 256
  private val initialEntries = 64
  private val keptSlots = 1 << 16
  private val keptWords = 1 << 18
  private val rowOverhead = 64L // two objects and a reference

  private def headOf(hash: Int, group: Int): Long = hash.toLong << 32 | group

  /** Equal values of different groups get different slots. */
  private def slot(head: Long): Int = {
    val product = ((head >> 32) + head.toInt * 0x9e3779b97f4a7c15L) * 0xc4ceb9fe1a85ec53L
    (product >>> 32).toInt
  }
}
