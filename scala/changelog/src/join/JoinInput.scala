package io.firesteel.changelog.join

import io.firesteel.core.rows.{ColumnProjection, WordColumn}
import io.firesteel.changelog.plan.JoinedSide
import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, UnsafeRow}

/** The rows of one input, then those of the other. */
final private[join] class TwoInputs(
    left: Iterator[InternalRow],
    right: Iterator[InternalRow],
    rightFirst: Boolean)
  extends Iterator[InternalRow] {

  private[this] val (first, second) = if (rightFirst) (right, left) else (left, right)

  /** The input of the last row: 0 or 1. */
  var of: Int = 0

  override def hasNext: Boolean = first.hasNext || second.hasNext

  override def next(): InternalRow = {
    val isFirst = first.hasNext
    of = if (isFirst == rightFirst) 1 else 0
    if (isFirst) first.next() else second.next()
  }
}

/** Reads the rows of one input: their key, what state keeps of them, and whether they are taken back. */
final private[join] class JoinInput(side: JoinedSide, in: Seq[Attribute], kindAt: Int) {
  private[this] val toKey = ColumnProjection(side.keys, in)
  private[this] val toRow = ColumnProjection(side.stored, in)
  private[this] val strict = side.nullsMatchNothing.toArray

  /** Whether no row is taken back. */
  val onlyComes: Boolean = kindAt < 0

  /** Whether a row replaces all of its key that came before it. */
  val replaces: Boolean = side.replaces

  /** The column of a key that is a number; null if the key is none, or not a column. */
  val numberKey: WordColumn = side.keys match {
    case Seq(column: Attribute) =>
      WordColumn.of(Seq(in.indexWhere(_.exprId == column.exprId)), Seq(column.dataType))
    case _ => null
  }

  def keyOf(row: InternalRow): UnsafeRow = toKey(row)

  def storedOf(row: InternalRow): UnsafeRow = toRow(row)

  /** Whether the row matches nothing, because of a null in its key. */
  def matchesNothing(key: UnsafeRow): Boolean = {
    var i = 0
    while (i < strict.length && !key.isNullAt(strict(i))) i += 1
    i < strict.length
  }

  /** Whether the row that replaces this one follows. */
  def isBefore(row: InternalRow): Boolean =
    kindAt >= 0 && row.getByte(kindAt) == RowKind.UpdateBefore

  def sign(row: InternalRow): Long =
    if (kindAt >= 0 && RowKind.isRetraction(row.getByte(kindAt))) -1L else 1L
}
