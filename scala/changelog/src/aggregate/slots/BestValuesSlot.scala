package io.firesteel.changelog.aggregate.slots

import java.lang.Double.doubleToRawLongBits
import java.lang.Float.floatToRawIntBits
import java.util.Objects

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, GenericArrayData, TypeUtils}
import org.apache.spark.sql.types.{ArrayType, DataType, LongType}

/**
 * The smallest or the largest value of a set with retractions. It keeps the best few values, so
 * that all values are read only after these were retracted.
 *
 * The best values are sorted. No other value of the set is better than the last of them. While the
 * set has no other values, new values are added to the best ones until there are too many.
 */
final private[aggregate] class BestValuesSlot(dataType: DataType, largest: Boolean)
  extends ExtremeValue {
  import BestValuesSlot._

  @transient private[this] lazy val ordering = TypeUtils.getInterpretedOrdering(dataType)

  // Whether the set has other values, then the best values.
  override val fields: Seq[(String, DataType)] =
    Seq("others" -> LongType, "best" -> ArrayType(dataType, containsNull = false))

  override def value(state: GroupState): Any = {
    val best = bestOf(state)
    if (best.isEmpty) null else best.head
  }

  def appear(state: GroupState, value: Any): Unit = {
    val best = bestOf(state)
    val at = best.lastIndexWhere(!isBetter(value, _)) + 1
    // An expired value that is inserted again may still be among the best.
    if ((at < best.size || !hasOthers(state)) && placeOf(best, value) < 0) {
      best.insert(at, InternalRow.copyValue(value))
      if (best.size > most) {
        best.remove(most)
        setOthers(state, has = true)
      }
    }
  }

  /** Removes a value; returns whether all values must be read to know the best. */
  def vanish(state: GroupState, value: Any): Boolean = {
    val best = bestOf(state)
    val at = placeOf(best, value)
    if (at >= 0) { val _ = best.remove(at) }
    best.isEmpty && hasOthers(state)
  }

  /**
   * Byte arrays are compared by their order. Floats are compared by their bits, as in the set: 0.0
   * and -0.0 are two values, and so are two NaN of other bits.
   */
  private def placeOf(best: ArrayBuffer[Any], value: Any): Int = best.indexWhere { other =>
    (other, value) match {
      case (a: Double, b: Double) => doubleToRawLongBits(a) == doubleToRawLongBits(b)
      case (a: Float, b: Float) => floatToRawIntBits(a) == floatToRawIntBits(b)
      case (a: Array[Byte], b: Array[Byte]) => ordering.compare(a, b) == 0
      case _ => Objects.equals(other, value)
    }
  }

  /** Reads all values. */
  def search(state: GroupState, visitAll: (Any => Unit) => Unit): Unit = {
    val best = bestOf(state)
    best.clear()
    var others = false
    visitAll { value =>
      if (best.size < wanted || isBetter(value, best.last)) {
        best.insert(best.lastIndexWhere(!isBetter(value, _)) + 1, InternalRow.copyValue(value))
        if (best.size > wanted) {
          best.remove(wanted)
          others = true
        }
      } else others = true
    }
    setOthers(state, others)
  }

  private def isBetter(candidate: Any, than: Any): Boolean = {
    val order = ordering.compare(candidate, than)
    if (largest) order > 0 else order < 0
  }

  private def hasOthers(state: GroupState): Boolean = state.longs(longAt) != 0L

  private def setOthers(state: GroupState, has: Boolean): Unit =
    state.longs(longAt) = if (has) 1L else 0L

  private def bestOf(state: GroupState): ArrayBuffer[Any] = {
    if (state.refs(refAt) == null) state.refs(refAt) = ArrayBuffer.empty[Any]
    state.refs(refAt).asInstanceOf[ArrayBuffer[Any]]
  }

  // Neither rows nor partial results change it: it is found in the store.
  override def add(state: GroupState, row: InternalRow, sign: Int): Unit = ()

  override def merge(state: GroupState, row: InternalRow, at: Int): Unit =
    if (!row.isNullAt(at + 1)) {
      setOthers(state, row.getLong(at) != 0L)
      val stored: ArrayData = row.getArray(at + 1)
      bestOf(state) ++=
        (0 until stored.numElements()).map(i => InternalRow.copyValue(stored.get(i, dataType)))
    }

  override def write(state: GroupState, row: InternalRow, at: Int): Unit = {
    row.setLong(at, state.longs(longAt))
    val best = bestOf(state)
    row.update(at + 1, if (best.isEmpty) null else new GenericArrayData(best.toArray))
  }

  override def isZero(state: GroupState): Boolean = bestOf(state).isEmpty && !hasOthers(state)
}

private[aggregate] object BestValuesSlot {

  /** Values that are kept after all were read: as many retractions before the next read. */
  val wanted: Int = 16

  /** Most values that are kept: a dropped value brings the next full read nearer. */
  val most: Int = 2 * wanted
}

/** A slot with the smallest or the largest value of a group. */
private[aggregate] trait ExtremeValue extends Slot {

  /** Null if there is none. */
  def value(state: GroupState): Any
}
