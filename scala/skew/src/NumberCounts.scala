package io.firesteel.skew

import java.util.Arrays

import scala.collection.mutable.ArrayBuffer

/**
 * The numbers of a group, and how often each occurred.
 *
 * New numbers are appended to an array, and stay there in any order unless the same ones are
 * repeated often. Repeated numbers are sorted into a run of different numbers with counts. Each run
 * is at least twice as long as the next: a longer next run is merged at once. So a number is moved
 * once for each doubling, however many other objects are added.
 *
 * Memory: 8 bytes for each number in the array, up to 16 while it grows, and 16 for each different
 * number of a run. The array grows beyond a million numbers only while a sample shows fewer than
 * four repetitions of each. While two runs are merged, 16 more bytes for each number of both.
 */
private[skew] final class NumberCounts {
  import NumberCounts._

  private[this] val runs = new ArrayBuffer[NumberRun](0)
  private[this] var recent = Array.emptyLongArray
  private[this] var recentSize = 0
  private[this] var limit = firstLimit

  /** Adds one number. */
  def add(value: Long): Unit = {
    if (recentSize == recent.length) makeRoom(1)
    recent(recentSize) = value
    recentSize += 1
  }

  /** Adds the numbers that `toBytes` or [[PackedNumbers]] wrote. */
  def add(bytes: Array[Byte]): Unit = if (bytes.nonEmpty) {
    val in = new BlockReader(bytes)
    val kind = in.number()
    if (kind == PackedNumbers.counted) push(NumberRun.of(in))
    else {
      val (size, least) = (in.int(), in.signed())
      if (recentSize + size > recent.length) makeRoom(size)
      in.differences(recent, recentSize, recentSize + size, least, kind.toInt)
      recentSize += size
    }
  }

  /** Adds all numbers of another. It may reorder the other's memory, but not change its numbers. */
  def add(other: NumberCounts): Unit = other.giveTo(this)

  /** How many numbers were added, repetitions included. */
  def total: Long = recentSize + runs.map(_.total).sum

  /** The number at each of these positions, from 0, among all numbers in ascending order. */
  def at(places: Array[Long]): Array[Long] =
    if (runs.isEmpty) Selection.at(recent, recentSize, places) else all.at(places)

  /** No bytes for no numbers. */
  def toBytes: Array[Byte] = {
    val out = new BlockBytes
    if (runs.nonEmpty) {
      out.putNumber(PackedNumbers.counted)
      all.put(out)
    } else if (recentSize > 0) {
      val mayRepeat = Repeats.areMany(recent, 0, recentSize)
      PackedNumbers.put(recent, 0, recentSize, mayRepeat, out)
    }
    out.toArray
  }

  private def giveTo(other: NumberCounts): Unit = {
    runs.foreach(other.push)
    other.addAll(recent, recentSize)
  }

  private def addAll(values: Array[Long], size: Int): Unit = {
    if (recentSize + size > recent.length) makeRoom(size)
    System.arraycopy(values, 0, recent, recentSize, size)
    recentSize += size
  }

  /** Makes room for so many more numbers in the array. */
  private def makeRoom(more: Int): Unit = {
    if (recentSize > 0 && recentSize.toLong + more > limit) {
      if (limit >= lastLimit || Repeats.areMany(recent, 0, recentSize)) sortRecent()
      else limit = math.min(math.max(limit * 2L, recentSize.toLong + more), lastLimit.toLong).toInt
    }
    val needed = recentSize.toLong + more
    if (needed > recent.length) {
      val doubled = math.min(recent.length * 2L, limit.toLong)
      recent = Arrays.copyOf(recent, math.max(needed, math.max(doubled, initial.toLong)).toInt)
    }
  }

  /** All numbers in one run. */
  private def all: NumberRun = {
    sortRecent()
    while (runs.length > 1) mergeLast()
    if (runs.isEmpty) NumberRun.empty else runs.head
  }

  private def sortRecent(): Unit =
    if (recentSize > 0) {
      Arrays.sort(recent, 0, recentSize)
      push(NumberRun.ofSorted(recent, 0, recentSize))
      recentSize = 0
    }

  private def push(run: NumberRun): Unit =
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
  private val initial = 4
  private val firstLimit = 1 << 20
  private val lastLimit = 1 << 29

  /** Reads the bytes that `toBytes` wrote. */
  def of(bytes: Array[Byte]): NumberCounts = {
    val all = new NumberCounts
    all.add(bytes)
    all
  }
}
