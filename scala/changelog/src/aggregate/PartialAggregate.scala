package io.firesteel.changelog.aggregate

import io.firesteel.changelog.fold.{FoldIterator, FoldLimits}
import io.firesteel.core.changes.RowKind
import io.firesteel.core.rows.KeyIndex

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeRow}

/**
 * Folds the rows of a task by group, below the exchange, into partial results.
 *
 * @param same see [[PartialValues]]
 * @param kindAt place of a row's kind; -1 for an insert-only input
 */
final private[changelog] class PartialAggregate(
    rows: Iterator[InternalRow],
    limits: FoldLimits,
    layout: AggregateLayout,
    same: Seq[Int],
    kindAt: Int)
  extends FoldIterator(rows, limits) {

  private[this] val keys = layout.keyTypes.take(layout.numKeys).zipWithIndex.map { case (t, i) =>
    BoundReference(i, t, nullable = true)
  }
  private[this] val groups = new KeyIndex(KeyIndex.isNumber(keys), keys.size)
  private[this] val number = layout.keyNumber
  private[this] val states = layout.newStates()
  private[this] val values = new PartialValues(layout, same)
  private[this] val made = new AggregateRows(layout)
  private[this] var taken = 0L // bytes of the rows in growing buffers, an upper bound

  override protected def held: Int = states.size + values.size

  override protected def bytes: Long =
    groups.bytes + states.size * layout.stateBytes + taken + values.bytes

  override protected def fold(row: InternalRow): Unit = {
    val sign = if (kindAt >= 0 && RowKind.isRetraction(row.getByte(kindAt))) -1 else 1
    val group = groupOf(row)
    val state = if (group == states.size) states.add() else states(group)
    if (layout.hasGrowing) taken += FoldLimits.bytesOf(row)
    layout.add(state, row, sign)
    values.add(group, row, sign)
  }

  private def groupOf(row: InternalRow): Int = row match {
    case unsafe: UnsafeRow if number != null =>
      if (number.isNull(unsafe)) groups.ofNull() else groups.of(number(unsafe))
    case _ => groups.of(made.groupKeyOf(row))
  }

  override protected def drain(): Iterator[InternalRow] = {
    val ofGroups = Iterator.range(0, states.size).map(g => made.delta(groups.key(g), states(g)))
    val ofSets = values.packed(states.size) { (group, set, packed) =>
      made.delta(groups.key(group), set, packed)
    }
    (ofGroups ++ ofSets).concat(emptied())
  }

  private def emptied(): Iterator[InternalRow] = {
    groups.clear()
    states.clear()
    taken = 0L
    values.clear()
    Iterator.empty
  }
}

/**
 * The same of rows that an operator in this task has told key by key: the neighbours of one key are
 * one partial result. The half above finds the groups, and a second table of them would save
 * nothing.
 */
final private[changelog] class AdjacentPartial(
    rows: Iterator[InternalRow],
    layout: AggregateLayout,
    kindAt: Int)
  extends Iterator[InternalRow] {

  private[this] val made = new AggregateRows(layout)
  private[this] var key: UnsafeRow = _ // of the row that was read and not yet folded
  private[this] var row: InternalRow = _

  private[this] def read(): Unit =
    if (rows.hasNext) {
      row = rows.next()
      key = made.groupKeyOf(row)
    } else row = null

  override def hasNext: Boolean = {
    if (row == null) read()
    row != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException("no more partial results")
    val (group, state) = (key.copy(), layout.newState())
    while (row != null && key == group) {
      val sign = if (kindAt >= 0 && RowKind.isRetraction(row.getByte(kindAt))) -1 else 1
      layout.add(state, row, sign)
      read()
    }
    made.delta(group, state)
  }
}
