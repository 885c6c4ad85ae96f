package io.firesteel.skew

import java.util.Arrays

/** Different numbers, ascending. `counts` is null if each occurred once. */
private[skew] final class NumberRun(values: Array[Long], counts: Array[Long], val size: Int) {
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

  def merged(other: NumberRun): NumberRun = other.mergedInto(values, counts, size)

  private def mergedInto(left: Array[Long], leftCounts: Array[Long], leftSize: Int): NumberRun = {
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
      new NumberRun(Arrays.copyOf(all, n), if (once) null else Arrays.copyOf(sums, n), n)
    else new NumberRun(all, if (once) null else sums, n)
  }

  /** The first number, then differences, then the counts if any is not 1. */
  def put(out: BlockBytes): Unit = {
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
  }
}

private[skew] object NumberRun {
  val empty = new NumberRun(Array.emptyLongArray, null, 0)

  /** A run of sorted numbers, with repetitions. The array is not kept. */
  def ofSorted(sorted: Array[Long], from: Int, until: Int): NumberRun = {
    val length = until - from
    var different = 1
    var i = from + 1
    while (i < until) {
      if (sorted(i) != sorted(i - 1)) different += 1
      i += 1
    }
    if (different == length) new NumberRun(Arrays.copyOfRange(sorted, from, until), null, length)
    else {
      val values = new Array[Long](different)
      val counts = new Array[Long](different)
      var at = -1
      i = from
      while (i < until) {
        if (at < 0 || sorted(i) != values(at)) {
          at += 1
          values(at) = sorted(i)
        }
        counts(at) += 1
        i += 1
      }
      new NumberRun(values, counts, different)
    }
  }

  /** Reads what `put` wrote. */
  def of(in: BlockReader): NumberRun = {
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
    new NumberRun(values, if (hasCounts) Array.fill(size)(in.number()) else null, size)
  }
}
