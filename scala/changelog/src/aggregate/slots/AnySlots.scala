package io.firesteel.changelog.aggregate.slots

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.types.DataType

/** The buffer of a function over an insert-only input. */
final private[aggregate] class MergedSlot(own: SparkAggregate, toRow: InputColumns) extends Slot {

  override val fields: Seq[(String, DataType)] = own.state.map(f => f.name -> f.dataType)

  /** Whether the buffer has an object of variable size. */
  def isObject: Boolean = own.isObject

  // A buffer is one object, whatever its columns.
  override def longs: Int = 0
  override def refs: Int = 1

  def buffer(state: GroupState): InternalRow = {
    if (state.refs(refAt) == null) state.refs(refAt) = own.newBuffer()
    state.refs(refAt).asInstanceOf[InternalRow]
  }

  def result(state: GroupState): Any = own.result(buffer(state))

  override def add(state: GroupState, row: InternalRow, sign: Int): Unit =
    own.update(buffer(state), toRow(row))

  override def merge(state: GroupState, row: InternalRow, at: Int): Unit = {
    val kept = fields.indices.map(i => row.get(at + i, fields(i)._2))
    own.merge(buffer(state), new GenericInternalRow(kept.toArray[Any]))
  }

  override def write(state: GroupState, row: InternalRow, at: Int): Unit = {
    val kept = own.stateOf(buffer(state))
    fields.indices.foreach { i =>
      row.update(at + i, InternalRow.copyValue(kept.get(i, fields(i)._2)))
    }
  }

  override def isZero(state: GroupState): Boolean = true // insert-only: the number of rows shows it
}

/**
 * The result of a function over a set of values, computed again when the set changes. This supports
 * retraction for every function, in O(rows of the group).
 *
 * @param distinct whether a value counts once, whatever its number of rows
 */
final private[aggregate] class RetainedSlot(
    own: SparkAggregate,
    dataType: DataType,
    distinct: Boolean)
  extends Slot {

  override val fields: Seq[(String, DataType)] = Seq("result" -> dataType)
  override def longs: Int = 0

  @transient private[this] lazy val ofNone: Any = own.result(own.newBuffer())

  /** The result; `isEmpty` if the set has no values. */
  def result(state: GroupState, isEmpty: Boolean): Any = if (isEmpty) ofNone else state.refs(refAt)

  def compute(state: GroupState, visitAll: ((InternalRow, Long) => Unit) => Unit): Unit = {
    val buffer = own.newBuffer()
    visitAll { (value, rows) =>
      var copies = if (distinct) 1L else rows
      while (copies > 0L) {
        own.update(buffer, value)
        copies -= 1
      }
    }
    state.refs(refAt) = own.result(buffer)
  }

  // Neither rows nor partial results change it: it is computed from the store.
  override def add(state: GroupState, row: InternalRow, sign: Int): Unit = ()

  override def merge(state: GroupState, row: InternalRow, at: Int): Unit =
    if (!row.isNullAt(at)) state.refs(refAt) = InternalRow.copyValue(row.get(at, dataType))

  override def write(state: GroupState, row: InternalRow, at: Int): Unit =
    row.update(at, state.refs(refAt))

  override def isZero(state: GroupState): Boolean = true // the number of values shows it
}

/** Some columns of an input row, as a row. */
final private[aggregate] class InputColumns(columns: Array[Int], types: Array[DataType])
  extends Serializable {

  @transient private[this] lazy val row = new GenericInternalRow(columns.length)

  def apply(input: InternalRow): InternalRow = {
    var i = 0
    while (i < columns.length) {
      row.update(i, if (input.isNullAt(columns(i))) null else input.get(columns(i), types(i)))
      i += 1
    }
    row
  }
}
