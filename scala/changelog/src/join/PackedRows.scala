package io.firesteel.changelog.join

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The rows of one side that share an entry, in no order. There are few: each is found by a scan. */
final private[join] class PackedRows {
  private[this] var rows = new Array[UnsafeRow](2)
  private[this] var numbers = new Array[Long](4)

  var size: Int = 0

  /** Whether they differ from the entry. */
  var changed: Boolean = false

  def row(at: Int): UnsafeRow = rows(at)
  def copies(at: Int): Long = numbers(2 * at)
  def matches(at: Int): Long = numbers(2 * at + 1)

  /** The place of a row; -1 if it is not there. */
  def indexOf(row: UnsafeRow): Int = {
    var i = size - 1
    while (i >= 0 && rows(i) != row) i -= 1
    i
  }

  /** The row is not copied. */
  def add(row: UnsafeRow, copies: Long, matches: Long): Unit = {
    if (size == rows.length) {
      rows = Arrays.copyOf(rows, 2 * size)
      numbers = Arrays.copyOf(numbers, 4 * size)
    }
    rows(size) = row
    size += 1
    set(size - 1, copies, matches)
  }

  def set(at: Int, copies: Long, matches: Long): Unit = {
    numbers(2 * at) = copies
    numbers(2 * at + 1) = matches
    changed = true
  }

  def remove(at: Int): Unit = {
    size -= 1
    rows(at) = rows(size)
    set(at, copies(size), matches(size))
    rows(size) = null
  }

  def count(isOne: UnsafeRow => Boolean): Int = {
    var (i, n) = (0, 0)
    while (i < size) {
      if (isOne(rows(i))) n += 1
      i += 1
    }
    n
  }

  /** Removes rows; returns how many. */
  def removeWhere(unwanted: UnsafeRow => Boolean): Int = {
    val before = size
    var i = size - 1
    while (i >= 0) {
      if (unwanted(rows(i))) remove(i)
      i -= 1
    }
    before - size
  }

  def clear(): Unit = {
    changed = size > 0
    Arrays.fill(rows.asInstanceOf[Array[AnyRef]], 0, size, null)
    size = 0
  }

  /** Moves rows to others. */
  def moveTo(others: PackedRows)(isOne: UnsafeRow => Boolean): Unit = {
    var i = size - 1
    while (i >= 0) {
      if (isOne(rows(i))) {
        others.add(rows(i), copies(i), matches(i))
        remove(i)
      }
      i -= 1
    }
  }
}

/** What the first entry of a key has of one side: its rows, or in how many buckets they are. */
final private[join] class FirstPart {
  val here: PackedRows = new PackedRows
  var rows: Long = 0L
  var buckets: Int = 0

  private[this] var (rowsRead, bucketsRead) = (0L, 0)

  def isSpread: Boolean = buckets > 0
  def isEmpty: Boolean = rows == 0L

  /** Whether it differs from the entry. */
  def isChanged: Boolean = here.changed || rows != rowsRead || buckets != bucketsRead

  def clear(): Unit = {
    here.clear()
    rows = 0L
    buckets = 0
  }

  def markRead(): Unit = {
    if (buckets == 0) rows = here.size.toLong
    rowsRead = rows
    bucketsRead = buckets
    here.changed = false
  }
}
