package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.Tally
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The changes of a micro-batch in one partition of a Top-N. */
sealed abstract private[topn] class PendingRows {

  def size: Int

  /** Inserts or retracts a row; it is copied if kept. */
  def add(row: UnsafeRow, sign: Long): Unit

  /** A row of the state with its count after the micro-batch. */
  def of(row: UnsafeRow, count: Long): RankedRow

  /** The rows that are not in the state; call it after [[of]] for all rows of the state. */
  def others: Seq[RankedRow]
}

private[topn] object PendingRows {

  def of(identity: RowIdentity): PendingRows =
    if (identity.hasVersions) new Versions(identity) else new Tallies

  /** Inserts and retractions. Many partitions get one row in a micro-batch: that needs no map. */
  final private class Tallies extends PendingRows {
    private[this] var only: UnsafeRow = _
    private[this] var onlyCount = 0L
    private[this] var tallies: Tally.Map = _ // of all rows, once there are two

    override def size: Int =
      if (tallies != null) tallies.size else if (only == null) 0 else 1

    override def add(row: UnsafeRow, sign: Long): Unit =
      if (tallies != null) Tally.add(tallies, row, sign)
      else if (only == null) {
        only = row.copy()
        onlyCount = sign
      } else if (only == row) onlyCount += sign
      else {
        tallies = new Tally.Map()
        tallies.put(only, new Tally(onlyCount))
        only = null
        Tally.add(tallies, row, sign)
      }

    override def of(row: UnsafeRow, count: Long): RankedRow =
      if (tallies != null) {
        val tally = tallies.remove(row)
        new RankedRow(row, count, count + (if (tally == null) 0L else tally.count))
      } else if (only != null && only == row) {
        only = null
        new RankedRow(row, count, count + onlyCount)
      } else new RankedRow(row, count, count)

    override def others: Seq[RankedRow] =
      if (tallies != null) {
        val found = Seq.newBuilder[RankedRow]
        tallies.forEach((row, tally) => found += new RankedRow(row, 0L, tally.count))
        found.result()
      } else if (only == null) Nil
      else new RankedRow(only, 0L, onlyCount) :: Nil
  }

  /** A row replaces the row with its key. */
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
