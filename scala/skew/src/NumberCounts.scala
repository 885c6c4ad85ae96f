package io.firesteel.skew

import java.util.Arrays

import scala.collection.mutable.ArrayBuffer

/**
 * Numbers and how often each occurred, in sorted runs.
 *
 * New numbers are appended to an array. A full array is sorted into a run. Each run is at least
 * twice as long as the next: a longer next run is merged at once. So a number is moved once for
 * each doubling, however many other objects are added.
 *
 * Memory: 8 bytes for each different number of a run, 16 if any number of the run is repeated.
 * While two runs are merged, 16 more for each number of both.
 */
private[skew] final class NumberCounts {
  import NumberCounts._

  private[this] val runs = new ArrayBuffer[Run](0)
  private[this] var recent = new Array[Long](initial)
  private[this] var recentSize = 0

  /** Adds one number. */
  def add(value: Long): Unit = {
    if (recentSize == recent.length) {
      if (recentSize >= longestUnsorted) sortRecent()
      else recent = Arrays.copyOf(recent, recentSize * 2)
    }
    recent(recentSize) = value
    recentSize += 1
  }

  /** Adds all numbers of another. It may reorder the other's memory, but not change its numbers. */
  def add(other: NumberCounts): Unit = push(other.all)

  /** How many numbers were added, repetitions included. */
  def total: Long = all.total

  /** The number at each of these positions, from 0, among all numbers in ascending order. */
  def at(places: Array[Long]): Array[Long] = all.at(places)

  /** As bytes: the first number, then differences, then the counts if any is not 1. */
  def toBytes: Array[Byte] = all.toBytes

  /** All numbers in one run. */
  private def all: Run = {
    sortRecent()
    while (runs.length > 1) mergeLast()
    if (runs.isEmpty) Run.empty else runs.head
  }

  private def sortRecent(): Unit =
    if (recentSize > 0) {
      Arrays.sort(recent, 0, recentSize)
      push(Run.ofSorted(recent, recentSize))
      recentSize = 0
    }

  private def push(run: Run): Unit =
    if (run.size > 0) {
      runs += run
      while (runs.length > 1 && runs(runs.length - 2).size < 2L * runs.last.size) mergeLast()
    }

  private def mergeLast(): Unit = {
    val last = runs.remove(runs.length - 1)
    runs(runs.length - 1) = runs.last.merged(last)
  }
}

private[skew] object NumberCounts {
  private val initial = 8
  private val longestUnsorted = 1 << 16

  /** Reads the bytes that `toBytes` wrote. */
  def of(bytes: Array[Byte]): NumberCounts = {
    val all = new NumberCounts
    all.push(Run.of(bytes))
    all
  }

  /** Different numbers, ascending. `counts` is null if each occurred once. */
  private final class Run(values: Array[Long], counts: Array[Long], val size: Int) {
    private def count(i: Int): Long = if (counts == null) 1L else counts(i)

    def total: Long = {
      var sum = 0L
      if (counts == null) sum = size.toLong
      else {
        var i = 0
        while (i < size) {
          sum += counts(i)
          i += 1
        }
      }
      sum
    }

    def at(places: Array[Long]): Array[Long] =
      if (counts == null) places.map(place => values(place.toInt))
      else {
        val found = new Array[Long](places.length)
        var i = 0
        var before = 0L
        places.indices.sortBy(places(_)).foreach { at =>
          while (before + counts(i) <= places(at)) {
            before += counts(i)
            i += 1
          }
          found(at) = values(i)
        }
        found
      }

    def merged(other: Run): Run = other.mergedInto(values, counts, size)

    private def mergedInto(left: Array[Long], leftCounts: Array[Long], leftSize: Int): Run = {
      val all = new Array[Long](leftSize + size)
      val sums = new Array[Long](leftSize + size)
      var i = 0
      var j = 0
      var n = 0
      var once = true
      while (i < leftSize || j < size) {
        val fromLeft = i < leftSize && (j == size || left(i) <= values(j))
        val fromRight = j < size && (i == leftSize || values(j) <= left(i))
        all(n) = if (fromLeft) left(i) else values(j)
        if (fromLeft) {
          sums(n) += (if (leftCounts == null) 1L else leftCounts(i))
          i += 1
        }
        if (fromRight) {
          sums(n) += count(j)
          j += 1
        }
        if (sums(n) != 1L) once = false
        n += 1
      }
      // Numbers in both runs leave free space, which would stay reserved until the next merge.
      if (n < all.length / 2)
        new Run(Arrays.copyOf(all, n), if (once) null else Arrays.copyOf(sums, n), n)
      else new Run(all, if (once) null else sums, n)
    }

    def toBytes: Array[Byte] = {
      val out = new BlockBytes
      out.putNumber(size.toLong)
      out.putNumber(if (counts == null) 0L else 1L)
      var i = 0
      var last = 0L
      while (i < size) {
        out.putNumber(values(i) - last)
        last = values(i)
        i += 1
      }
      if (counts != null) {
        i = 0
        while (i < size) {
          out.putNumber(counts(i))
          i += 1
        }
      }
      out.toArray
    }
  }

  private object Run {
    val empty = new Run(Array.emptyLongArray, null, 0)

    /** A run of sorted numbers, with repetitions. The array is not kept. */
    def ofSorted(sorted: Array[Long], length: Int): Run = {
      var different = 1
      var i = 1
      while (i < length) {
        if (sorted(i) != sorted(i - 1)) different += 1
        i += 1
      }
      if (different == length) new Run(Arrays.copyOf(sorted, length), null, length)
      else {
        val values = new Array[Long](different)
        val counts = new Array[Long](different)
        var at = -1
        i = 0
        while (i < length) {
          if (at < 0 || sorted(i) != values(at)) {
            at += 1
            values(at) = sorted(i)
          }
          counts(at) += 1
          i += 1
        }
        new Run(values, counts, different)
      }
    }

    def of(bytes: Array[Byte]): Run = {
      val in = new BlockReader(bytes)
      val size = in.number().toInt
      val hasCounts = in.number() == 1L
      val values = new Array[Long](size)
      var last = 0L
      var i = 0
      while (i < size) {
        last += in.number()
        values(i) = last
        i += 1
      }
      new Run(values, if (hasCounts) Array.fill(size)(in.number()) else null, size)
    }
  }
}
