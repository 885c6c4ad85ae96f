package io.firesteel.changelog.topn

import io.firesteel.core.rows.ColumnProjection

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.{Expression, UnsafeRow}

/** Whether a row is a newer version of another one. */
sealed abstract private[changelog] class RowIdentity {

  /** Whether rows have versions. */
  def hasVersions: Boolean

  def same(a: UnsafeRow, b: UnsafeRow): Boolean

  /** The key that all versions of a row share, in a row that the next call reuses. */
  def keyOf(row: UnsafeRow): UnsafeRow

  /** An order of the keys; versions of a row are equal in it. */
  def compare(a: UnsafeRow, b: UnsafeRow): Int
}

private[changelog] object RowIdentity {

  /** By the columns of a key; without a key, rows have no versions. */
  def of(key: Seq[Expression]): RowIdentity = if (key.isEmpty) None else new ByKey(key)

  private object None extends RowIdentity {
    override def hasVersions: Boolean = false
    override def same(a: UnsafeRow, b: UnsafeRow): Boolean = false
    override def keyOf(row: UnsafeRow): UnsafeRow = row
    override def compare(a: UnsafeRow, b: UnsafeRow): Int = 0
  }

  final private class ByKey(key: Seq[Expression]) extends RowIdentity {
    private[this] val (one, other) = (ColumnProjection(key), ColumnProjection(key))
    override def hasVersions: Boolean = true
    override def same(a: UnsafeRow, b: UnsafeRow): Boolean = one(a) == other(b)
    override def keyOf(row: UnsafeRow): UnsafeRow = one(row)
    override def compare(a: UnsafeRow, b: UnsafeRow): Int =
      Arrays.compareUnsigned(one(a).getBytes, other(b).getBytes)
  }
}
