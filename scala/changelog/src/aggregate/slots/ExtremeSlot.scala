package io.firesteel.changelog.aggregate.slots

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.TypeUtils
import org.apache.spark.sql.types.DataType

/** The smallest or the largest value of an insert-only input. */
final private[aggregate] class ExtremeSlot(
    column: Int,
    dataType: DataType,
    largest: Boolean)
  extends ExtremeValue {

  @transient private[this] lazy val ordering = TypeUtils.getInterpretedOrdering(dataType)

  override val fields: Seq[(String, DataType)] =
    Seq((if (largest) "max" else "min") -> dataType)

  // A number is stored as an object, too: there may be none.
  override def longs: Int = 0

  override def value(state: GroupState): Any = state.refs(refAt)

  override def add(state: GroupState, row: InternalRow, sign: Int): Unit =
    if (!row.isNullAt(column)) offer(state, row.get(column, dataType))

  override def merge(state: GroupState, row: InternalRow, at: Int): Unit =
    if (!row.isNullAt(at)) offer(state, row.get(at, dataType))

  override def write(state: GroupState, row: InternalRow, at: Int): Unit =
    row.update(at, value(state))

  /** Keeps a value if it is better than the current one. */
  private def offer(state: GroupState, candidate: Any): Unit =
    if (value(state) == null || isBetter(candidate, value(state))) {
      state.refs(refAt) = InternalRow.copyValue(candidate)
    }

  private def isBetter(candidate: Any, than: Any): Boolean = {
    val order = ordering.compare(candidate, than)
    if (largest) order > 0 else order < 0
  }

  override def isZero(state: GroupState): Boolean = value(state) == null
}
