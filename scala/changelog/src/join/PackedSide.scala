package io.firesteel.changelog.join

import io.firesteel.changelog.fold.RowIndex
import io.firesteel.changelog.plan.JoinedSide

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The rows of one side of the key that is open: in the key's first entry, or spread over buckets.
 *
 * Linear hashing (Litwin, 1980): buckets are added and taken away one at a time, and each shares its
 * rows with one other bucket. So a change of a row reads and writes one small entry, however many
 * rows the key has. Memory: the rows of two buckets.
 */
final private[join] class PackedSide(packed: PackedEntries, side: JoinedSide, number: Int)
  extends JoinRows(side) {
  import PackedSide._

  private[this] var key: UnsafeRow = _

  /** What the key's first entry has of this side. */
  val first: FirstPart = new FirstPart

  // The bucket that was read last, and its number; -1 without one.
  private[this] var bucket = new PackedRows
  private[this] var bucketAt = -1

  private[this] val stored = new StoredRow
  private[this] var storedIn: PackedRows = _
  private[this] var storedAt = 0

  def open(opened: UnsafeRow, entry: UnsafeRow): Unit = {
    key = opened
    bucketAt = -1
    packed.readFirst(entry, number, first)
  }

  override protected def present(copies: Long): Long = packed.present(copies)

  override protected def find(row: UnsafeRow, hash: Int): StoredRow = {
    val its = if (first.isSpread) load(bucketOf(hash, first.buckets)) else first.here
    val at = its.indexOf(row)
    if (at < 0) null else show(its, at)
  }

  // A key of one row is never spread.
  override protected def only: StoredRow = if (first.here.size == 0) null else show(first.here, 0)

  override def areFew: Boolean = !first.isSpread

  override protected def usesHash: Boolean = first.isSpread

  override def hasOthers(changed: ChangedRows): Boolean = first.rows > changed.old

  override def others(changed: ChangedRows): Iterator[StoredRow] = {
    val all =
      if (!first.isSpread) rowsOf(first.here)
      else Iterator.range(0, first.buckets).flatMap(number => rowsOf(load(number)))
    // New ones are not in state.
    if (changed.old == 0) all else all.filterNot(its => changed.contains(its.row))
  }

  private def rowsOf(its: PackedRows): Iterator[StoredRow] =
    if (its.size == 0) Iterator.empty
    else new Iterator[StoredRow] {
      private[this] var at = 0
      override def hasNext: Boolean = at < its.size
      override def next(): StoredRow = {
        at += 1
        show(its, at - 1)
      }
    }

  override def putMatches(row: StoredRow, matches: Long): Unit =
    storedIn.set(storedAt, row.copies, matches)

  override protected def put(its: ChangedRow): Unit = {
    val rows = rowsWith(its)
    val at = if (its.isNew) -1 else rows.indexOf(its.row)
    if (at >= 0) rows.set(at, its.after, its.matchesAfter)
    else {
      rows.add(its.row, its.after, its.matchesAfter)
      first.rows += 1
    }
  }

  override protected def remove(its: ChangedRow): Unit = {
    val rows = rowsWith(its)
    val at = rows.indexOf(its.row)
    if (at >= 0) {
      rows.remove(at)
      first.rows -= 1
      shrink()
    }
  }

  /** Removes the key's rows of which this holds. */
  def removeWhere(unwanted: UnsafeRow => Boolean): Unit = {
    first.rows -= (
      if (!first.isSpread) first.here.removeWhere(unwanted)
      else (0 until first.buckets).map(load(_).removeWhere(unwanted)).sum)
    shrink()
  }

  /** Writes the bucket that was read last, if it has changed. */
  def flush(): Unit = if (bucketAt >= 0 && bucket.changed) {
    packed.putBucket(key, placeOf(bucketAt), number, bucket)
    bucket.changed = false
  }

  private def show(its: PackedRows, at: Int): StoredRow = {
    storedIn = its
    storedAt = at
    stored.row = its.row(at)
    stored.copies = its.copies(at)
    stored.matches = its.matches(at)
    stored
  }

  private def rowsWith(its: ChangedRow): PackedRows =
    if (first.isSpread) load(bucketOf(its.hash, first.buckets)) else first.here

  private def load(at: Int): PackedRows = {
    if (at != bucketAt) {
      become(at, new PackedRows)
      val entry = packed.get(key, placeOf(at))
      if (entry != null) packed.read(entry, number, bucket)
      bucket.changed = false
    }
    bucket
  }

  /** Leaves the bucket that was read last. */
  private def become(at: Int, its: PackedRows): Unit = {
    flush()
    bucketAt = at
    bucket = its
  }

  private def placeOf(at: Int): Int = 2 * (at + 1) + number

  /** Bucket by bucket, so that each is read and written once. */
  override protected def inOrder(size: Int)(hash: Int => Int): Array[Int] =
    if (!first.isSpread || size == 1) null
    else {
      val byBucket = Array.tabulate(size)(i => (bucketOf(hash(i), first.buckets).toLong << 32) | i)
      Arrays.sort(byBucket)
      byBucket.map(_.toInt)
    }

  override protected def makeRoom(changed: ChangedRows): Unit = {
    var wanted = first.rows
    changed.foreach(its => if (its.isNew) wanted += 1)
    if (first.isSpread) while (wanted > first.buckets.toLong * perBucket) split()
    else if (wanted > mostInFirst) {
      first.buckets = ((wanted + perBucket - 1) / perBucket).toInt
      val moved = new PackedRows
      first.here.moveTo(moved)(_ => true)
      (0 until moved.size).foreach { i =>
        load(bucketOf(RowIndex.hash(moved.row(i)), first.buckets))
          .add(moved.row(i), moved.copies(i), moved.matches(i))
      }
    }
  }

  /** A new last bucket takes its rows from another one. */
  private def split(): Unit = {
    val (last, moved) = (first.buckets, new PackedRows)
    first.buckets += 1
    load(partnerOf(last)).moveTo(moved)(row => bucketOf(RowIndex.hash(row), first.buckets) == last)
    become(last, moved)
  }

  private def shrink(): Unit =
    if (first.isSpread) {
      if (first.rows <= perBucket) {
        (0 until first.buckets).foreach(at => load(at).moveTo(first.here)(_ => true))
        flush()
        first.buckets = 0
        bucketAt = -1
      } else while (first.rows < first.buckets.toLong * leastPerBucket) merge()
    }

  /** The last bucket gives its rows to the one that it took them from. */
  private def merge(): Unit = {
    val (last, moved) = (first.buckets - 1, new PackedRows)
    load(last).moveTo(moved)(_ => true)
    moved.moveTo(load(partnerOf(last)))(_ => true)
    first.buckets = last
  }
}

private[join] object PackedSide {

  /** Rows of a bucket, on average; a change of a row reads and writes so many. */
  val perBucket: Int = 8

  /** Fewer on average take a bucket away. */
  val leastPerBucket: Int = 4

  /** Rows of a side that the first entry holds. More than a bucket's, so that few go to and fro. */
  val mostInFirst: Int = 16

  private def bucketOf(hash: Int, buckets: Int): Int = {
    val half = Integer.highestOneBit(buckets)
    val at = hash & (2 * half - 1)
    if (at < buckets) at else at - half
  }

  /** The bucket that shares its rows with the last one. */
  private def partnerOf(last: Int): Int = last - Integer.highestOneBit(last)
}
