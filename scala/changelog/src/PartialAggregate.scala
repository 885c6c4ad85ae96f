package io.firesteel.changelog

import io.firesteel.core.RowKind
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}

/**
 * Sums up the rows of a task, group by group, below the exchange: what each adds to the state.
 *
 * @param kindAt where a row tells its kind; -1 when rows only come
 */
final private[changelog] class PartialAggregate(
    rows: Iterator[InternalRow],
    limit: Int,
    layout: AggregateLayout,
    kindAt: Int)
  extends FoldIterator(rows, limit) {

  private[this] val groups = new java.util.LinkedHashMap[UnsafeRow, GroupState]()
  private[this] val values = new Tally.Map()
  private[this] val made = new AggregateRows(layout)
  private[this] val valueKeys = new ValueKeys(layout)
  private[this] val toKey = UnsafeProjection.create(
    layout.keyTypes.take(layout.numKeys).zipWithIndex.map { case (t, i) =>
      BoundReference(i, t, nullable = true)
    })

  override protected def held: Int = groups.size + values.size

  override protected def fold(row: InternalRow): Unit = {
    val sign = if (kindAt >= 0 && RowKind.isRetraction(row.getByte(kindAt))) -1 else 1
    val state = groupOf(toKey(row))
    var i = 0
    while (i < layout.direct.length) {
      layout.direct(i).add(state, row, sign)
      i += 1
    }
    var set = 0
    while (set < layout.sets.length) {
      valueKeys.of(row, set).foreach(Tally.add(values, _, sign.toLong))
      set += 1
    }
  }

  private def groupOf(key: UnsafeRow): GroupState = {
    val known = groups.get(key)
    if (known != null) known
    else {
      val state = layout.newState()
      groups.put(key.copy(), state)
      state
    }
  }

  override protected def drain(): Iterator[InternalRow] = {
    val (ofGroups, ofValues) = (groups.entrySet.iterator, values.entrySet.iterator)
    new Iterator[InternalRow] {
      override def hasNext: Boolean = ofGroups.hasNext || ofValues.hasNext || {
        groups.clear()
        values.clear()
        false
      }
      override def next(): InternalRow =
        if (ofGroups.hasNext) {
          val group = ofGroups.next()
          made.delta(group.getKey, group.getValue)
        } else {
          val value = ofValues.next()
          made.delta(value.getKey, value.getValue.count)
        }
    }
  }
}
