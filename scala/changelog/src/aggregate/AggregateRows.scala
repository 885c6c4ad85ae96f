package io.firesteel.changelog.aggregate

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.aggregate.slots.GroupState
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GenericInternalRow, JoinedRow, Literal, UnsafeRow}
import org.apache.spark.sql.types.IntegerType

/**
 * Builds the keys and values of an aggregate's store. One per task. A projection is made when it is
 * needed, because no task needs all of them and its code must be generated.
 */
final private[aggregate] class AggregateRows(layout: AggregateLayout) {

  private[this] val groupKeyTypes = layout.keyTypes.take(layout.numKeys)
  private[this] val value = new GenericInternalRow(layout.valueTypes.size)
  private[this] val joined = new JoinedRow
  private[this] val joinedDelta = new JoinedRow
  private[this] lazy val toValue = ColumnProjection(layout.valueTypes.toArray)
  private[this] lazy val toDelta =
    ColumnProjection((layout.keyTypes ++ layout.valueTypes).toArray)
  private[this] lazy val toDeltaKey = ColumnProjection(ofGroup(AggregateLayout.ofGroup))
  private[this] lazy val toEntryKey =
    ColumnProjection(layout.storeKey(ofGroup(AggregateLayout.ofGroup)))
  private[this] lazy val toWindowKey =
    ColumnProjection(layout.storeKey(ofGroup(AggregateLayout.ofWindow)))
  private[this] lazy val toKeyOfGroup = ColumnProjection(bound(groupKeyTypes.size))
  private[this] lazy val toBucketKey =
    ColumnProjection(layout.storeKey(bound(layout.keyTypes.size)))
  private[this] lazy val toSetKey = ColumnProjection(layout.keyTypes.toArray)
  private[this] val bucket = new GenericInternalRow(2)

  /** The group key of a row of the input, or between the halves: both begin with it. */
  def groupKeyOf(delta: InternalRow): UnsafeRow = toKeyOfGroup(delta)

  /** The key of a group's own entry. */
  def entryOf(groupKey: UnsafeRow): UnsafeRow = toEntryKey(groupKey)

  /** The key of the entry of a key's window. */
  def windowEntryOf(groupKey: UnsafeRow): UnsafeRow = toWindowKey(groupKey)

  /** The key of an entry with values of a set. */
  def bucketKeyOf(groupKey: UnsafeRow, set: Int, at: Int): UnsafeRow = {
    bucket.setInt(0, layout.setNumber(set))
    bucket.setInt(1, at)
    toBucketKey(joined(groupKey, bucket))
  }

  /** The value of a group's own entry. */
  def valueOf(state: GroupState): UnsafeRow = {
    write(state)
    toValue(value)
  }

  /** The same with bytes of another kind. */
  def valueOf(state: GroupState, bytes: Array[Byte]): UnsafeRow = {
    layout.write(state, value)
    value.update(layout.valuesAt, bytes)
    toValue(value)
  }

  /** The value of an entry with values of a set. */
  def valueOf(values: Array[Byte]): UnsafeRow = {
    fill(values)
    toValue(value)
  }

  /** A row between the halves for a group's own entry. */
  def delta(groupKey: UnsafeRow, state: GroupState): UnsafeRow = {
    write(state)
    toDelta(joinedDelta(toDeltaKey(groupKey), value))
  }

  /** A row between the halves for a set of values. */
  def delta(groupKey: UnsafeRow, set: Int, values: Array[Byte]): UnsafeRow = {
    fill(values)
    bucket.setInt(0, set)
    bucket.setInt(1, 0)
    toDelta(joinedDelta(toSetKey(joined(groupKey, bucket)), value))
  }

  private[this] def write(state: GroupState): Unit = {
    layout.write(state, value)
    if (layout.hasSet) value.setNullAt(layout.valuesAt)
  }

  private[this] def fill(values: Array[Byte]): Unit = {
    (0 until layout.valuesAt).foreach(value.setNullAt)
    value.update(layout.valuesAt, values)
  }

  private[this] def bound(columns: Int): Seq[Expression] =
    layout.keyTypes.take(columns).zipWithIndex.map { case (t, i) =>
      BoundReference(i, t, nullable = true)
    }

  private[this] def ofGroup(set: Int): Seq[Expression] =
    if (!layout.hasSet) bound(groupKeyTypes.size)
    else bound(groupKeyTypes.size) ++ Seq(Literal(set, IntegerType), Literal(0, IntegerType))
}
