package io.firesteel.changelog

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BoundReference, EvalMode, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Average, Count, DeclarativeAggregate, Max, Min, Sum}
import org.apache.spark.sql.types.{DataType, Decimal, DecimalType, DoubleType, FloatType, IntegerType, StructType}

/**
 * Distinct values of some columns, each with the number of its rows: what `DISTINCT` needs, and
 * `min` and `max` of an input that takes rows back. Calls on the same columns share one.
 *
 * @param columns places of the columns in the input
 * @param at where in the state's key its columns begin
 */
final private[changelog] case class ValueSet(columns: Seq[Int], types: Seq[DataType], at: Int) {

  /** Slots that count a value once, however many rows it has. */
  val fed: ArrayBuffer[Slot] = ArrayBuffer.empty

  /** Slots that look for the smallest or largest value. */
  val extremes: ArrayBuffer[ExtremeSlot] = ArrayBuffer.empty
}

/**
 * What the state of an aggregate is made of. Rows of the input are keys, then arguments, then the
 * kind if there is one. An aggregate of the whole has a constant key, so that its state lies in one
 * partition of as many as any other state has: Spark waits for all of them to commit.
 *
 * The store has one entry for each group: the number of its rows and the slots of its aggregates.
 * Beside it, for each set of values, one entry for each value. Rows between the two halves of the
 * operator have the same columns, key and value, and mean what is to be added.
 *
 * {{{
 *   keys | set | values of sets | rows | slots
 *   k=1  | -1  | null           |  5   | sum 12
 *   k=1  |  0  | 'a'            |  3   | null
 * }}}
 */
final private[changelog] class AggregateLayout(
    keys: Seq[Attribute],
    functions: Seq[DeclarativeAggregate],
    distinct: Seq[Boolean],
    retracting: Boolean,
    val isGlobal: Boolean)
  extends Serializable {

  val numKeys: Int = keys.size

  private val slotBuffer = ArrayBuffer.empty[(String, Slot)]
  private val setBuffer = ArrayBuffer.empty[ValueSet]

  /** The number of rows of the group. */
  val rows: CountSlot = slot("rows", new CountSlot(Array.empty))

  val results: Seq[AggregateResult] =
    functions.zip(distinct).map { case (function, isDistinct) => resultOf(function, isDistinct) }

  val slots: Array[Slot] = slotBuffer.map(_._2).toArray
  val sets: Array[ValueSet] = setBuffer.toArray
  private val names: Seq[String] = slotBuffer.map(_._1).toSeq

  place()

  val numLongs: Int = slots.map(_.longs).sum
  val numRefs: Int = slots.map(_.refs).sum

  /** Whether entries of the store tell the set that they belong to. */
  val hasSet: Boolean = sets.nonEmpty

  /** Where the key tells the set. */
  val setAt: Int = numKeys

  /** Columns of the store's key, and of the rows between the halves. */
  val keyTypes: Seq[DataType] =
    keys.map(_.dataType) ++ (if (hasSet) IntegerType +: sets.toSeq.flatMap(_.types) else Nil)

  val valueTypes: Seq[DataType] = slots.toSeq.flatMap(_.fields.map(_._2))

  /** Where in the value each slot begins. */
  val slotAt: Array[Int] = slots.map(_.fields.size).scanLeft(0)(_ + _).init

  /** Slots that are added to row by row; the others are fed by sets. */
  val direct: Array[Slot] = {
    val bySets = sets.flatMap(s => s.fed ++ s.extremes).toSet
    slots.filterNot(bySets.contains)
  }

  def newState(): GroupState = new GroupState(new Array[Long](numLongs), new Array[Any](numRefs))

  def merge(state: GroupState, row: InternalRow, at: Int): Unit = {
    var i = 0
    while (i < slots.length) {
      slots(i).merge(state, row, at + slotAt(i))
      i += 1
    }
  }

  def write(state: GroupState, value: InternalRow): Unit = {
    var i = 0
    while (i < slots.length) {
      slots(i).write(state, value, slotAt(i))
      i += 1
    }
  }

  def isZero(state: GroupState): Boolean = slots.forall(_.isZero(state))

  /** The store's schema. */
  def state: StateLayout = {
    val keyNames = keys.indices.map(i => s"key_$i") ++
      (if (hasSet) "set" +: sets.indices.flatMap(setNames) else Nil)
    val slotNames = slots.indices.flatMap(i => slots(i).fields.map(f => s"${names(i)}_${f._1}"))
    StateLayout(
      AggregateLayout.name,
      schema(keyNames, keyTypes),
      schema(slotNames, valueTypes),
      // Only who looks for another smallest or largest value reads a set as a whole.
      if (sets.forall(_.extremes.isEmpty)) 0 else numKeys + 1
    )
  }

  private def setNames(set: Int): Seq[String] = sets(set).columns.indices.map(i => s"set_${set}_$i")

  private def schema(names: Seq[String], types: Seq[DataType]): StructType =
    StructType(names.zip(types).map { case (n, t) =>
      StateLayout.field(AggregateLayout.name, n, t)
    })

  private def place(): Unit = {
    slots.map(_.longs).scanLeft(0)(_ + _).zip(slots).foreach { case (at, s) => s.longAt = at }
    slots.map(_.refs).scanLeft(0)(_ + _).zip(slots).foreach { case (at, s) => s.refAt = at }
  }

  private def slot[S <: Slot](name: String, make: => S): S =
    slotBuffer.collectFirst { case (`name`, known) => known.asInstanceOf[S] }.getOrElse {
      val made = make
      slotBuffer += name -> made
      made
    }

  private def resultOf(function: DeclarativeAggregate, isDistinct: Boolean): AggregateResult =
    function match {
      case count: Count if count.children.forall(_.foldable) => CountResult(rows)
      case count: Count if isDistinct =>
        val set = setOf(count.children)
        CountResult(fed(set, "count", new CountSlot(set.types.indices.map(set.at + _).toArray)))
      case count: Count =>
        val places = count.children.map(placeOf)
        CountResult(slot(places.mkString("count_", "_", ""), new CountSlot(places.toArray)))
      case sum: Sum => sumOf(sum, sum.child, isDistinct, sum.evalContext.evalMode)
      case average: Average => sumOf(average, average.child, isDistinct, EvalMode.LEGACY)
      case min: Min => ExtremeResult(extreme(min.child, largest = false))
      case max: Max => ExtremeResult(extreme(max.child, largest = true))
      case other => throw new IllegalStateException(s"no state for $other")
    }

  private def sumOf(
      function: DeclarativeAggregate,
      child: Expression,
      isDistinct: Boolean,
      evalMode: EvalMode.Value): AggregateResult = {
    def make(at: Int): Slot = child.dataType match {
      case FloatType | DoubleType => new FloatSumSlot(at, child.dataType)
      case wide: DecimalType if wide.precision > Decimal.MAX_LONG_DIGITS =>
        new WideSumSlot(at, wide)
      case whole => new LongSumSlot(at, whole)
    }
    val made =
      if (isDistinct) {
        val set = setOf(Seq(child))
        fed(set, "sum", make(set.at))
      } else slot(s"sum_${placeOf(child)}", make(placeOf(child)))
    val second = BufferPart.of(function)
    made match {
      case float: FloatSumSlot => FloatSumResult(float, second)
      case whole: WholeSumSlot =>
        val sumType = function.aggBufferAttributes.head.dataType
        WholeSumResult(whole, child.dataType, sumType, evalMode, second)
      case other => throw new IllegalStateException(s"no sum: $other")
    }
  }

  private def extreme(child: Expression, largest: Boolean): ExtremeSlot = {
    val name = if (largest) "max" else "min"
    if (!retracting) {
      val at = placeOf(child)
      slot(s"${name}_$at", new ExtremeSlot(at, child.dataType, largest))
    } else {
      val set = setOf(Seq(child))
      val made = slot(
        s"${name}_of_set_${setBuffer.indexOf(set)}",
        new ExtremeSlot(set.at, child.dataType, largest))
      if (!set.extremes.contains(made)) set.extremes += made
      made
    }
  }

  private def fed[S <: Slot](set: ValueSet, name: String, make: => S): S = {
    val made = slot(s"${name}_of_set_${setBuffer.indexOf(set)}", make)
    if (!set.fed.contains(made)) set.fed += made
    made
  }

  private def setOf(children: Seq[Expression]): ValueSet = {
    val columns = children.map(placeOf)
    setBuffer.find(_.columns == columns).getOrElse {
      val at = numKeys + 1 + setBuffer.map(_.columns.size).sum
      val made = ValueSet(columns, children.map(_.dataType), at)
      setBuffer += made
      made
    }
  }

  /** Where the input has a column. */
  private def placeOf(argument: Expression): Int = argument match {
    case column: BoundReference => numKeys + column.ordinal
    case other => throw new IllegalStateException(s"no column: $other")
  }
}

private[changelog] object AggregateLayout {
  val name = "aggregate"

  /** The set of a group's own entry. */
  val ofGroup: Int = -1
}
