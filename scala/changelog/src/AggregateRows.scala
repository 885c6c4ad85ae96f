package io.firesteel.changelog

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GenericInternalRow, JoinedRow, Literal, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.IntegerType

/** Makes the rows of an aggregate's store. One per task. */
final private[changelog] class AggregateRows(layout: AggregateLayout) {

  private[this] val groupKeyTypes = layout.keyTypes.take(layout.numKeys)
  private[this] val value = new GenericInternalRow(layout.valueTypes.size)
  private[this] val joined = new JoinedRow
  private[this] val toValue = UnsafeProjection.create(layout.valueTypes.toArray)
  private[this] val toDelta =
    UnsafeProjection.create((layout.keyTypes ++ layout.valueTypes).toArray)
  private[this] val toEntryKey = UnsafeProjection.create(ofGroup(AggregateLayout.ofGroup))
  private[this] val toKeyOfGroup = UnsafeProjection.create(bound(groupKeyTypes.size))
  private[this] val toKeyOfEntry = UnsafeProjection.create(bound(layout.keyTypes.size))
  private[this] val toPrefix = layout.sets.indices.map { set =>
    UnsafeProjection.create(bound(groupKeyTypes.size) :+ Literal(set, IntegerType))
  }

  /** The key of the group that a row between the halves is about. */
  def groupKeyOf(delta: InternalRow): UnsafeRow = toKeyOfGroup(delta)

  /** The key of the store's entry that a row between the halves is about. */
  def entryKeyOf(delta: InternalRow): UnsafeRow = toKeyOfEntry(delta)

  /** The key of a group's own entry. */
  def entryOf(groupKey: UnsafeRow): UnsafeRow = toEntryKey(groupKey)

  /** What all values of a set in a group share. */
  def prefixOf(groupKey: UnsafeRow, set: Int): UnsafeRow = toPrefix(set)(groupKey)

  /** The value of a group's own entry. */
  def valueOf(state: GroupState): UnsafeRow = {
    layout.write(state, value)
    toValue(value)
  }

  /** The value of the entry of a value of a set. */
  def valueOf(count: Long): UnsafeRow = {
    fill(count)
    toValue(value)
  }

  /** What is to be added to a group's own entry. */
  def delta(groupKey: UnsafeRow, state: GroupState): UnsafeRow = {
    layout.write(state, value)
    toDelta(joined(toEntryKey(groupKey), value))
  }

  /** What is to be added to the entry of a value of a set. */
  def delta(entryKey: UnsafeRow, count: Long): UnsafeRow = {
    fill(count)
    toDelta(joined(entryKey, value))
  }

  private[this] def fill(count: Long): Unit = {
    (0 until value.numFields).foreach(value.setNullAt)
    value.setLong(0, count)
  }

  private[this] def bound(columns: Int): Seq[Expression] =
    layout.keyTypes.take(columns).zipWithIndex.map { case (t, i) =>
      BoundReference(i, t, nullable = true)
    }

  private[this] def ofGroup(set: Int): Seq[Expression] =
    if (!layout.hasSet) bound(groupKeyTypes.size)
    else {
      (bound(groupKeyTypes.size) :+ Literal(set, IntegerType)) ++
        layout.sets.toSeq.flatMap(_.types).map(Literal(null, _))
    }
}
