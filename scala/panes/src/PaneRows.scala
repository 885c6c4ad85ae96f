package io.firesteel.panes

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BaseOrdering, RowOrdering, UnsafeProjection, UnsafeRow}

/**
 * Reads rows of keys, pane and states, sorted by keys and pane, as panes of each key in turn.
 *
 * @param input rows; all may be the same object
 * @param columns their columns: `numKeys` keys, the pane, and the states
 */
private[panes] final class PaneRows(
    input: Iterator[InternalRow],
    columns: Seq[Attribute],
    numKeys: Int)
  extends PaneCursor {

  private[this] val (keys, states) = (columns.take(numKeys), columns.drop(numKeys + 1))
  private[this] val keyOf = UnsafeProjection.create(keys, columns)
  private[this] val stateOf = UnsafeProjection.create(states, columns)

  // Keys with equal bytes are equal. Collated strings may be equal with different bytes.
  private[this] val order: BaseOrdering =
    RowOrdering.createNaturalAscendingOrdering(keys.map(_.dataType))

  private[this] var row: InternalRow = if (input.hasNext) input.next() else null
  private[this] var ofThisKey = false

  /** The current key. */
  var key: UnsafeRow = _

  /** Moves to the next key, after all panes of this key have been read. False at the end. */
  def nextKey(): Boolean =
    if (row == null) false
    else {
      key = keyOf(row).copy()
      ofThisKey = true
      true
    }

  override def hasPane: Boolean = ofThisKey

  override def pane: Long = row.getLong(numKeys)

  override def state: InternalRow = stateOf(row)

  override def advance(): Unit = {
    row = if (input.hasNext) input.next() else null
    ofThisKey = row != null && {
      val next = keyOf(row)
      next.equals(key) || order.compare(next, key) == 0
    }
  }
}
