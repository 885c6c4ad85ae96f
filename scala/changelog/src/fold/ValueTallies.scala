package io.firesteel.changelog.fold

import io.firesteel.core.rows.Mix64

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * How many rows each distinct value of each group gains or loses.
 *
 * Memory: an open-addressing table, at least one third of it free, with 4 bytes per slot; 24 bytes
 * per value; and the row of a value that does not fit into eight bytes.
 *
 * @param isNumber whether a value is one field of eight bytes
 */
final private[changelog] class ValueTallies(val isNumber: Boolean) {
  import ValueTallies._

  private[this] var table = new Array[Int](initialSlots) // an entry's number + 1, or 0
  private[this] var groups = new Array[Int](initialEntries)
  private[this] var hashes = new Array[Int](initialEntries)
  private[this] var counts = new Array[Long](initialEntries)
  private[this] var numbers = if (isNumber) new Array[Long](initialEntries) else null
  private[this] var rows = if (isNumber) null else new Array[UnsafeRow](initialEntries)
  private[this] var entries = 0
  private[this] var rowBytes = 0L

  /** Number of entries. */
  def size: Int = entries

  /** Bytes that are held, by estimate. */
  def bytes: Long = table.length * 4L + groups.length * 24L + rowBytes

  def number(entry: Int): Long = numbers(entry)
  def row(entry: Int): UnsafeRow = rows(entry)
  def count(entry: Int): Long = counts(entry)

  /** A hash of the value, without the group; the same in every task. */
  def hash(entry: Int): Int = hashes(entry)

  /** Adds to the tally of a value of a group; a new row is copied. */
  def add(group: Int, value: UnsafeRow, count: Long): Unit =
    if (isNumber) addNumber(group, value.getLong(0), count) else addRow(group, value, count)

  def addNumber(group: Int, number: Long, count: Long): Unit = {
    val entry = ofNumber(group, number)
    counts(entry) += count
  }

  def addRow(group: Int, value: UnsafeRow, count: Long): Unit = {
    val entry = ofRow(group, value)
    counts(entry) += count
  }

  /** Adds to the tally of an entry. */
  def addTo(entry: Int, count: Long): Unit = counts(entry) += count

  /** The entry of a value that is a row. */
  def ofRow(group: Int, value: UnsafeRow): Int = {
    val hash = value.hashCode
    val mask = table.length - 1
    var at = slot(hash, group) & mask
    var entry = table(at) - 1
    while (entry >= 0 && !(hashes(entry) == hash && groups(entry) == group &&
        rows(entry).equals(value))) {
      at = (at + 1) & mask
      entry = table(at) - 1
    }
    if (entry < 0) {
      entry = enter(at, group, hash)
      rows(entry) = value.copy()
      rowBytes += value.getSizeInBytes + rowOverhead
    }
    entry
  }

  /** The entry of a number in a group; a new entry counts 0 rows. */
  def ofNumber(group: Int, number: Long): Int = {
    val hash = hashOf(number)
    val mask = table.length - 1
    var at = slot(hash, group) & mask
    var entry = table(at) - 1
    while (entry >= 0 && !(numbers(entry) == number && groups(entry) == group)) {
      at = (at + 1) & mask
      entry = table(at) - 1
    }
    if (entry < 0) {
      entry = enter(at, group, hash)
      numbers(entry) = number
    }
    entry
  }

  /** All entries ordered by group; `starts(g)` is the index of group `g`'s first entry. */
  def byGroup(groupCount: Int): (Array[Int], Array[Int]) = {
    val starts = new Array[Int](groupCount + 1)
    var entry = 0
    while (entry < entries) {
      starts(groups(entry) + 1) += 1
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
      order(next(groups(entry))) = entry
      next(groups(entry)) += 1
      entry += 1
    }
    (order, starts)
  }

  /** Moves the entries of `order(from until until)` with 0 rows to the end; returns their start. */
  def dropZeros(order: Array[Int], from: Int, until: Int): Int = {
    var (at, end) = (from, until)
    while (at < end)
      if (counts(order(at)) != 0L) at += 1
      else {
        end -= 1
        val zero = order(at)
        order(at) = order(end)
        order(end) = zero
      }
    end
  }

  def clear(): Unit = {
    if (table.length > keptSlots) {
      table = new Array[Int](initialSlots)
      resize(initialEntries)
    } else Arrays.fill(table, 0)
    if (rows != null) Arrays.fill(rows.asInstanceOf[Array[AnyRef]], null)
    Arrays.fill(counts, 0L)
    entries = 0
    rowBytes = 0L
  }

  private def enter(at: Int, group: Int, hash: Int): Int = {
    val entry = entries
    entries += 1
    if (entries > groups.length) resize(groups.length * 2)
    table(at) = entries
    groups(entry) = group
    hashes(entry) = hash
    if (entries * 3L > table.length * 2L) rehash()
    entry
  }

  private def resize(length: Int): Unit = {
    groups = Arrays.copyOf(groups, length)
    hashes = Arrays.copyOf(hashes, length)
    counts = Arrays.copyOf(counts, length)
    if (isNumber) numbers = Arrays.copyOf(numbers, length)
    else rows = Arrays.copyOf(rows, length)
  }

  private def rehash(): Unit = {
    table = new Array[Int](table.length * 2)
    val mask = table.length - 1
    var entry = 0
    while (entry < entries) {
      var at = slot(hashes(entry), groups(entry)) & mask
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
  private val rowOverhead = 64L // two objects and a reference

  private def hashOf(number: Long): Int = Mix64(number).toInt

  /** Equal values of different groups get different slots. */
  private def slot(hash: Int, group: Int): Int = {
    val product = (hash + group * 0x9e3779b97f4a7c15L) * 0xc4ceb9fe1a85ec53L
    (product >>> 32).toInt
  }
}
