package io.firesteel.skew

import java.util.Arrays

/**
 * Numbers with their groups, in the order of arrival. `arrange` puts the numbers of a group side by
 * side, and then they can be read group by group.
 *
 * Memory: 12 bytes for each number, and 8 more while they are read.
 */
private[firesteel] final class GroupedNumbers {
  import GroupedNumbers._

  private[this] var numbers = Array(new Array[Long](firstPage))
  private[this] var groups = Array(new Array[Int](firstPage))
  private[this] var page = 0 // the page that is filled, and how far
  private[this] var pageNumbers = numbers(0)
  private[this] var pageGroups = groups(0)
  private[this] var at = 0

  private[this] var arranged = Array.emptyLongArray
  private[this] var starts = Array.emptyIntArray // of the groups, and the end of the last
  private[this] var mayRepeat = false

  def size: Int = page * pageSize + at

  /** Whether `grow` must be called before the next number. */
  def isFull: Boolean = at == pageNumbers.length

  /** Bytes held, and while the numbers are read. */
  def bytes: Long = (page.toLong * pageSize + pageNumbers.length) * bytesEach

  /** Bytes that `grow` adds, if it must be called. */
  def growth: Long =
    if (!isFull) 0L
    else if (page == 0 && at < pageSize) (math.min(at * 8, pageSize) - at) * bytesEach
    else pageSize * bytesEach

  /** Adds a number; returns whether it is full. */
  def add(group: Int, number: Long): Boolean = {
    pageNumbers(at) = number
    pageGroups(at) = group
    at += 1
    at == pageNumbers.length
  }

  def grow(): Unit =
    if (page == 0 && at < pageSize) {
      pageNumbers = Arrays.copyOf(pageNumbers, math.min(at * 8, pageSize))
      pageGroups = Arrays.copyOf(pageGroups, pageNumbers.length)
      numbers(0) = pageNumbers
      groups(0) = pageGroups
    } else {
      page += 1
      if (page >= numbers.length) {
        numbers = Arrays.copyOf(numbers, numbers.length * 2)
        groups = Arrays.copyOf(groups, groups.length * 2)
      }
      pageNumbers = new Array[Long](pageSize)
      pageGroups = new Array[Int](pageSize)
      numbers(page) = pageNumbers
      groups(page) = pageGroups
      at = 0
    }

  /** Ends adding, until `clear`. */
  def arrange(groupCount: Int): Unit = {
    val next = new Array[Int](groupCount + 1)
    foreachPage { (_, of, until) =>
      var i = 0
      while (i < until) {
        next(of(i) + 1) += 1
        i += 1
      }
    }
    var group = 1
    while (group <= groupCount) {
      next(group) += next(group - 1)
      group += 1
    }
    starts = next.clone()
    val all = new Array[Long](size)
    foreachPage { (some, of, until) =>
      var i = 0
      while (i < until) {
        val to = next(of(i))
        all(to) = some(i)
        next(of(i)) = to + 1
        i += 1
      }
    }
    arranged = all
    mayRepeat = looksRepeated(groupCount)
  }

  private def foreachPage(use: (Array[Long], Array[Int], Int) => Unit): Unit = {
    var i = 0
    while (i <= page) {
      use(numbers(i), groups(i), if (i == page) at else pageSize)
      i += 1
    }
  }

  /** Whether the numbers of most groups are repeated, by some groups. */
  private def looksRepeated(groupCount: Int): Boolean = {
    val chosen = (0 until math.min(groupCount, sampledGroups))
      .map(i => (i.toLong * groupCount / math.min(groupCount, sampledGroups)).toInt)
      .filter(sizeOf(_) >= fewestJudged)
    val repeated =
      chosen.count(group => Repeats.areMany(arranged, starts(group), starts(group + 1)))
    repeated * 2 > chosen.size
  }

  def sizeOf(group: Int): Int = starts(group + 1) - starts(group)

  /**
   * Writes the numbers of a group from `from` on, as many as go into one block. Returns the end.
   */
  def put(group: Int, from: Int, out: BlockBytes): Int = {
    val until = math.min(sizeOf(group), from + mostInBlock)
    if (until > from)
      PackedNumbers.put(arranged, starts(group) + from, starts(group) + until, mayRepeat, out)
    until
  }

  def clear(): Unit = {
    numbers = Array(numbers(0))
    groups = Array(groups(0))
    page = 0
    pageNumbers = numbers(0)
    pageGroups = groups(0)
    at = 0
    arranged = Array.emptyLongArray
    starts = Array.emptyIntArray
  }
}

private object GroupedNumbers {
  private val firstPage = 1 << 10
  private val pageSize = 1 << 16
  private val bytesEach = 20L
  private val mostInBlock = 1 << 20
  private val sampledGroups = 8
  private val fewestJudged = 16
}
