package io.firesteel.changelog.join

import io.firesteel.changelog.plan.JoinedSide

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.hash.Murmur3_x86_32

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

  // Rows in the first entry; none if they are spread.
  private[this] val first = new PackedRows
  private[this] var rows = 0L
  private[this] var buckets = 0
  private[this] var (rowsRead, bucketsRead) = (0L, 0)

  // The bucket that was read last, and its number; -1 without one.
  private[this] var bucket = new PackedRows
  private[this] var bucketAt = -1

  private[this] val stored = new StoredRow
  private[this] var storedIn: PackedRows = _
  private[this] var storedAt = 0

  def inEntry: PackedRows = first
  def isEmpty: Boolean = rows == 0L
  def isSpread: Boolean = buckets > 0
  def numRows: Long = rows
  def numBuckets: Int = buckets

  def isHeadChanged: Boolean = first.changed || rows != rowsRead || buckets != bucketsRead

  def open(opened: UnsafeRow, entry: UnsafeRow): Unit = {
    key = opened
    bucketAt = -1
    first.clear()
    buckets = 0
    if (entry != null) {
      packed.read(entry, number, first)
      if (!entry.isNullAt(PackedEntries.spreadAt)) {
        val spread = entry.getStruct(PackedEntries.spreadAt, 4)
        if (!spread.isNullAt(2 * number)) {
          rows = spread.getLong(2 * number)
          buckets = spread.getInt(2 * number + 1)
        }
      }
    }
    if (buckets == 0) rows = first.size.toLong
    rowsRead = rows
    bucketsRead = buckets
    first.changed = false
  }

  override protected def present(copies: Long): Long = packed.present(copies)

  override protected def find(row: UnsafeRow): StoredRow = {
    val its = rowsWith(row)
    val at = its.indexOf(row)
    if (at < 0) null else show(its, at)
  }

  // A key of one row is never spread.
  override protected def only: StoredRow = if (first.size == 0) null else show(first, 0)

  override def areFew: Boolean = buckets == 0

  override def hasOthers(changed: ChangedRows): Boolean = rows > changed.old

  override def others(changed: ChangedRows): Iterator[StoredRow] = {
    val all =
      if (buckets == 0) rowsOf(first)
      else Iterator.range(0, buckets).flatMap(number => rowsOf(load(number)))
    if (changed.isEmpty) all else all.filterNot(its => changed.contains(its.row))
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

  override protected def put(row: UnsafeRow, copies: Long, matches: Long): Unit = {
    val its = rowsWith(row)
    val at = its.indexOf(row)
    if (at >= 0) its.set(at, copies, matches)
    else {
      its.add(row, copies, matches)
      rows += 1
      grow()
    }
  }

  override protected def remove(row: UnsafeRow): Unit = {
    val its = rowsWith(row)
    val at = its.indexOf(row)
    if (at >= 0) {
      its.remove(at)
      rows -= 1
      shrink()
    }
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

  private def rowsWith(row: UnsafeRow): PackedRows =
    if (buckets == 0) first else load(bucketOf(row, buckets))

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

  private def grow(): Unit =
    if (buckets > 0) while (rows > buckets.toLong * perBucket) split()
    else if (rows > mostInFirst) {
      buckets = ((rows + perBucket - 1) / perBucket).toInt
      (0 until buckets).foreach { at =>
        become(at, new PackedRows)
        first.moveTo(bucket)(bucketOf(_, buckets) == at)
      }
    }

  /** A new last bucket takes its rows from another one. */
  private def split(): Unit = {
    val (last, moved) = (buckets, new PackedRows)
    buckets += 1
    load(partnerOf(last)).moveTo(moved)(bucketOf(_, buckets) == last)
    become(last, moved)
  }

  private def shrink(): Unit =
    if (buckets > 0) {
      if (rows <= perBucket) {
        (0 until buckets).foreach(at => load(at).moveTo(first)(_ => true))
        flush()
        buckets = 0
        bucketAt = -1
      } else while (rows < buckets.toLong * leastPerBucket) merge()
    }

  /** The last bucket gives its rows to the one that it took them from. */
  private def merge(): Unit = {
    val (last, moved) = (buckets - 1, new PackedRows)
    load(last).moveTo(moved)(_ => true)
    moved.moveTo(load(partnerOf(last)))(_ => true)
    buckets = last
  }
}

private[join] object PackedSide {

  /** Rows of a bucket, on average; a change of a row reads and writes so many. */
  val perBucket: Int = 8

  /** Fewer on average take a bucket away. */
  val leastPerBucket: Int = 4

  /** Rows of a side that the first entry holds. More than a bucket's, so that few go to and fro. */
  val mostInFirst: Int = 16

  private val seed = 42

  /** The bucket of a row. The hash is in checkpoints: it must stay as it is. */
  private def bucketOf(row: UnsafeRow, buckets: Int): Int = {
    val hash =
      Murmur3_x86_32.hashUnsafeWords(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes, seed)
    val half = Integer.highestOneBit(buckets)
    val at = hash & (2 * half - 1)
    if (at < buckets) at else at - half
  }

  /** The bucket that shares its rows with the last one. */
  private def partnerOf(last: Int): Int = last - Integer.highestOneBit(last)
}
