package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.Tally
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** What a micro-batch changes in one partition of a Top-N. */
sealed abstract private[topn] class PendingRows {

  def size: Int

  /** Adds a row, which is copied when it is kept, or takes it back. */
  def add(row: UnsafeRow, sign: Long): Unit

  /** What becomes of a row that is in the state. */
  def of(row: UnsafeRow, count: Long): RankedRow

  /** The rows that are not in the state; after [[of]] was asked of all that are. */
  def others: Seq[RankedRow]
}

private[topn] object PendingRows {

  def of(identity: RowIdentity): PendingRows =
    if (identity.hasVersions) new Versions(identity) else new Tallies

  /** Rows come and go. */
  final private class Tallies extends PendingRows {
    private[this] val tallies = new Tally.Map()
    override def size: Int = tallies.size
    override def add(row: UnsafeRow, sign: Long): Unit = Tally.add(tallies, row, sign)
    override def of(row: UnsafeRow, count: Long): RankedRow = {
      val tally = tallies.remove(row)
      new RankedRow(row, count, count + (if (tally == null) 0L else tally.count))
    }
    override def others: Seq[RankedRow] = {
      val found = Seq.newBuilder[RankedRow]
      tallies.forEach((row, tally) => found += new RankedRow(row, 0L, tally.count))
      found.result()
    }
  }

  /** A row takes the place of the one with its key. */
  final private class Versions(identity: RowIdentity) extends PendingRows {
    private[this] val newest = new java.util.LinkedHashMap[UnsafeRow, UnsafeRow]()
    override def size: Int = newest.size
    override def add(row: UnsafeRow, sign: Long): Unit = {
      val _ = newest.put(identity.keyOf(row).copy(), row.copy())
    }
    override def of(row: UnsafeRow, count: Long): RankedRow = {
      val newer = newest.get(identity.keyOf(row))
      if (newer == null) new RankedRow(row, count, count)
      else if (newer == row) {
        newest.remove(identity.keyOf(row))
        new RankedRow(row, count, count)
      } else new RankedRow(row, count, 0L)
    }
    override def others: Seq[RankedRow] = {
      val found = Seq.newBuilder[RankedRow]
      newest.values.forEach(row => found += new RankedRow(row, 0L, 1L))
      found.result()
    }
  }
}
