package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.FoldedRows

import java.util.BitSet

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

  /** Inserts and retractions. */
  final private class Tallies extends PendingRows {
    private[this] val rows = new FoldedRows
    private[this] var stored: BitSet = _ // places of those that are in the state; none, if null

    override def size: Int = rows.size

    override def add(row: UnsafeRow, sign: Long): Unit = rows.add(row, sign)

    override def of(row: UnsafeRow, count: Long): RankedRow = {
      val at = rows.indexOf(row)
      if (at < 0) new RankedRow(row, count, count)
      else {
        if (stored == null) stored = new BitSet(rows.size)
        stored.set(at)
        new RankedRow(row, count, count + rows.count(at))
      }
    }

    override def others: Seq[RankedRow] = {
      val found = Seq.newBuilder[RankedRow]
      var i = 0
      while (i < rows.size) {
        if (stored == null || !stored.get(i)) {
          found += new RankedRow(rows.row(i), 0L, rows.count(i))
        }
        i += 1
      }
      found.result()
    }
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
