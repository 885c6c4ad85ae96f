package io.firesteel.changelog.aggregate

import io.firesteel.changelog.aggregate.slots.{BestValuesSlot, CountSlot, ExtremeSlot, ExtremeValue, FloatSumSlot, GroupState, GroupStates, InputColumns, LongSumSlot, MergedSlot, RetainedSlot, SetSlot, Slot, SparkAggregate, WholeSumSlot, WideSumSlot}
import io.firesteel.changelog.fold.FoldLimits
import io.firesteel.changelog.plan.{AnyAggregate, SplitDistinct}
import io.firesteel.changelog.state.{StateEntries, StateLayout}
import io.firesteel.core.rows.{ColumnProjection, KeyIndex, WordColumn}
import io.firesteel.core.windows.PaneWindows

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BoundReference, EvalMode, Expression, Literal, SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Average, Count, DeclarativeAggregate, Max, Min, Sum}
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair
import org.apache.spark.sql.firesteel.{asNullable, evalModeOf}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{BinaryType, DataType, Decimal, DecimalType, DoubleType, FloatType, IntegerType, StructField, StructType}

/**
 * The distinct values of some columns, each with its number of rows. `DISTINCT` needs them, and so
 * do `min` and `max` over an input with retractions. Calls on the same columns share one set.
 *
 * @param columns places of the columns in the input
 * @param filter place of the column that says which rows count
 * @param keepsNulls whether a value may contain nulls; otherwise a row with a null has no value
 * @param size number of values and of entries in the store
 */
final private[aggregate] case class ValueSet(
    columns: Seq[Int],
    types: Seq[DataType],
    filter: Option[Int],
    keepsNulls: Boolean,
    size: SetSlot) {

  /** Whether a value is one field of eight bytes. */
  val isNumber: Boolean = !keepsNulls && types.size == 1 && KeyIndex.fitsWord(types.head)

  /** Values per entry of the store, on average: about two kilobytes of numbers. */
  def perBucket: Int = if (isNumber) 256 else 64

  /** Slots that count a value once, whatever its number of rows. They read the value's row only. */
  val fed: ArrayBuffer[Slot] = ArrayBuffer.empty

  /** Slots that search the smallest or largest value. */
  val extremes: ArrayBuffer[BestValuesSlot] = ArrayBuffer.empty

  /** Slots that are computed again when the set has changed. */
  val retained: ArrayBuffer[RetainedSlot] = ArrayBuffer.empty
}

/**
 * The state of an aggregate. Rows of the input are keys, then arguments, then the row kind if there
 * is one. An aggregate without keys has a constant key, so its state lies in one partition, but the
 * store has as many partitions as any other: Spark waits until all of them commit.
 *
 * The store has one entry per group: its number of rows and the slots of its aggregates. Each set
 * of values has further entries, see [[ValueBuckets]]. Rows between the two halves of the operator
 * have the columns of the store's key and value, and contain the values to add.
 *
 * {{{
 *   keys | set | bucket | rows | slots  | values
 *   k=1  | -1  |  0     |  5   | sum 12 | null
 *   k=1  |  0  |  0     | null | null   | 'a' 3 times, 'b' twice
 * }}}
 *
 * @param kept for each call the names of its columns in the store of an earlier start, see
 *   [[StoredSlots]]
 * @param inOrder all columns of that store's value, in order
 * @param ranges how the store keeps groups that are ranges of time, if the last key is their start.
 *   Then an entry of the store begins with the number of its set, and some entries have bytes where
 *   others have the values of a set: see [[RunningWindow]] and [[SessionFold]].
 */
final private[changelog] class AggregateLayout(
    keys: Seq[Attribute],
    functions: Seq[Expression],
    distinct: Seq[Boolean],
    retracting: Boolean,
    val isGlobal: Boolean,
    kept: Option[Seq[Seq[String]]] = None,
    inOrder: Seq[String] = Nil,
    val ranges: Option[RangeStore] = None)
  extends Serializable {

  val numKeys: Int = keys.size

  private val slotBuffer = ArrayBuffer.empty[(String, Slot)]
  private val setBuffer = ArrayBuffer.empty[ValueSet]
  private val askedFor = ArrayBuffer.empty[Slot]

  /** The group's number of rows. */
  val rows: CountSlot = slot("rows", new CountSlot(Array.empty))

  private val (madeResults, slotsOfCalls) =
    functions.zip(distinct).zipWithIndex.map { case ((function, isDistinct), i) =>
      askedFor.clear()
      val result = resultOf(function, isDistinct, i)
      (result, askedFor.distinct.toSeq)
    }.unzip

  val results: Seq[AggregateResult] = madeResults

  val slots: Array[Slot] = slotBuffer.map(_._2).toArray
  val sets: Array[ValueSet] = setBuffer.toArray

  place()

  val numLongs: Int = slots.map(_.longs).sum
  val numRefs: Int = slots.map(_.refs).sum

  /**
   * Whether something reads how many rows a group or a value has. For rows that only come it is
   * enough that there is one, if no call counts them and no window takes panes away again.
   */
  val countsRows: Boolean = retracting || ranges.nonEmpty

  /** Whether the number of a group's rows is in its result, or tells how many are left. */
  val countsGroups: Boolean = countsRows || results.exists {
    case CountResult(counted) => counted eq rows
    case _ => false
  }

  /** Whether keys of the store have the number of a set and of a bucket. */
  val hasSet: Boolean = sets.nonEmpty || ranges.nonEmpty

  /** Place of the set's number in the key. */
  val setAt: Int = numKeys

  /** Columns of the store's key, which begin the rows between the halves. */
  val keyTypes: Seq[DataType] =
    keys.map(_.dataType) ++ (if (hasSet) Seq(IntegerType, IntegerType) else Nil)

  /** Whether some functions keep Spark's buffers. */
  val hasMerged: Boolean = slots.exists(_.isInstanceOf[MergedSlot])

  /** Whether some of these buffers grow with their rows, such as `collect_list`. */
  val hasGrowing: Boolean = slots.exists {
    case merged: MergedSlot => merged.isObject
    case _ => false
  }

  private val stored = new StoredSlots(
    slotBuffer.toSeq.map { case (name, slot) =>
      (slot.fields.map(field => fieldOf(s"${name}_${field._1}", field._2).name), slot)
    },
    slotsOfCalls.map(_.map(slots.indexOf(_))),
    kept,
    inOrder
  )

  private val slotTypes: Seq[DataType] = stored.fields.map(_._2)

  val valueTypes: Seq[DataType] = if (hasSet) slotTypes :+ BinaryType else slotTypes

  /** Place of the packed values in the store's value. */
  val valuesAt: Int = slotTypes.size

  private val ofDeltas = new SlotColumns(
    slots,
    slots.map(_.fields.size).scanLeft(keyTypes.size)(_ + _).init)

  private val ofValues = new SlotColumns(slots, stored.at)

  /** The number of each set in the store's keys. */
  val setNumber: Array[Int] = {
    val sorted = sets.toSeq.sortBy(set => stored.at(slots.indexOf(set.size)))
    sets.map(sorted.indexOf(_))
  }

  /** Slots that are updated row by row; sets update the others. */
  val direct: Array[Slot] = {
    val bySets = sets.flatMap(s => s.fed ++ s.extremes ++ s.retained :+ s.size).toSet
    slots.filterNot(bySets.contains)
  }

  /** Those of them, in the store's value, that a partial result can be taken from. */
  val exact: SlotColumns = inValue(direct.filter(_.hasInverse))

  /** The other ones. */
  val others: SlotColumns = inValue(direct.filterNot(_.hasInverse))

  /** Some slots in the store's value. */
  def inValue(some: Array[Slot]): SlotColumns =
    new SlotColumns(some, some.map(slot => stored.at(slots.indexOf(slot))))

  /** Whether entries have no fixed size. */
  val isOfAnySize: Boolean = slotTypes.exists(!UnsafeRow.isFixedLength(_))

  /** Bytes of a group's state, by estimate, without columns of variable size. */
  val stateBytes: Long = FoldLimits.overhead + (numLongs + 6L * numRefs) * 8L

  /** The slot of a call of `min` or `max`. */
  def extreme(call: Int): ExtremeValue = results(call) match {
    case ExtremeResult(slot) => slot
    case other => throw new IllegalStateException(s"$other is neither min nor max")
  }

  def newState(): GroupState = GroupState(numLongs, numRefs)

  /** The states of many groups. */
  def newStates(): GroupStates = new GroupStates(numLongs, numRefs)

  /** The key of a row that begins with it, if it is one number. */
  def keyNumber: WordColumn =
    WordColumn.of(Seq.range(0, numKeys), keyTypes.take(numKeys))

  /** Adds a row of the input to the slots that are updated row by row. */
  def add(state: GroupState, row: InternalRow, sign: Int): Unit = {
    var i = 0
    while (i < direct.length) {
      direct(i).add(state, row, sign)
      i += 1
    }
  }

  /** Adds a row between the halves. */
  def mergeDelta(state: GroupState, row: InternalRow): Unit = ofDeltas.merge(state, row)

  /** Adds a value of the store. */
  def mergeValue(state: GroupState, value: InternalRow): Unit = ofValues.merge(state, value)

  /** Writes a value of the store; below the exchange, the end of a row between the halves. */
  def write(state: GroupState, value: InternalRow): Unit = ofValues.write(state, value)

  /** For each call the names of its columns in the store's value. */
  def columnsOfCalls: Seq[Seq[String]] = stored.ofCalls

  /** Whether it is the key of a group's own entry, and not one with values of a set. */
  def isOfGroup(key: InternalRow): Boolean =
    !hasSet || key.getInt(setAt) == AggregateLayout.ofGroup

  def isZero(state: GroupState): Boolean = slots.forall(_.isZero(state))

  /** The store's schema. */
  def state: StateLayout = {
    val own = keys.zipWithIndex.map { case (key, i) =>
      fieldOf(s"key_$i" + SplitDistinct.bucketsOf(key).fold("")(n => s"_of_$n"), key.dataType)
    }
    val packed = sets.zip(setNumber).sortBy(_._2).map(set => typesOf(set._1))
    val values = stored.fields.map { case (name, t) => StructField(name, asNullable(t)) } ++
      Option.when(hasSet)(fieldOf(packed.mkString("values_", "_", ""), BinaryType))
    StateLayout(
      AggregateLayout.name,
      StructType(storeKey(own ++ setColumns)),
      StructType(values),
      prefix = if (ranges.exists(_.scansBounds)) 1 else 0,
      keysAt = if (ranges.isEmpty) 0 else 1
    )
  }

  /** The columns of the number of a set and of a bucket. */
  def setColumns: Seq[StructField] =
    if (hasSet) Seq("set", "bucket").map(fieldOf(_, IntegerType)) else Nil

  /** The columns of a key in the order of the store. */
  def storeKey[A](columns: Seq[A]): Seq[A] =
    if (ranges.isEmpty) columns
    else columns(setAt) +: columns.patch(setAt, Nil, 1)

  /** A schema does not show the types of packed values, so a column name contains them. */
  private def typesOf(set: ValueSet): String = set.types.map(_.catalogString).mkString("_")

  private def fieldOf(name: String, dataType: DataType): StructField =
    StateLayout.field(AggregateLayout.name, name, dataType)

  private def place(): Unit = {
    slots.map(_.longs).scanLeft(0)(_ + _).zip(slots).foreach { case (at, s) => s.longAt = at }
    slots.map(_.refs).scanLeft(0)(_ + _).zip(slots).foreach { case (at, s) => s.refAt = at }
  }

  private def slot[S <: Slot](name: String, make: => S): S = {
    val found = slotBuffer.collectFirst { case (`name`, known) => known.asInstanceOf[S] }
    asked(found.getOrElse {
      val made = make
      slotBuffer += name -> made
      made
    })
  }

  private def asked[S <: Slot](slot: S): S = {
    askedFor += slot
    slot
  }

  private def resultOf(function: Expression, isDistinct: Boolean, i: Int): AggregateResult =
    function match {
      case count: Count if count.children.forall(_.foldable) => CountResult(asked(rows))
      case count: Count if isDistinct =>
        val set = setOf(count.children)
        CountResult(fed(set, "count", new CountSlot(set.types.indices.toArray)))
      case count: Count =>
        val places = count.children.map(placeOf)
        CountResult(slot(places.mkString("count_", "_", ""), new CountSlot(places.toArray)))
      case sum: Sum => sumOf(sum, sum.child, isDistinct, evalModeOf(sum))
      case average: Average => sumOf(average, average.child, isDistinct, EvalMode.LEGACY)
      case min: Min => ExtremeResult(extreme(min.child, largest = false))
      case max: Max => ExtremeResult(extreme(max.child, largest = true))
      case any: AnyAggregate => anyOf(any, isDistinct, i)
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
        fed(set, "sum", make(0))
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

  private def extreme(child: Expression, largest: Boolean): ExtremeValue = {
    val name = if (largest) "max" else "min"
    if (!retracting) {
      val at = placeOf(child)
      slot(s"${name}_$at", new ExtremeSlot(at, child.dataType, largest))
    } else {
      val set = setOf(Seq(child))
      val made = slot(
        s"${name}_of_set_${setBuffer.indexOf(set)}",
        new BestValuesSlot(child.dataType, largest))
      if (!set.extremes.contains(made)) set.extremes += made
      made
    }
  }

  private def anyOf(call: AnyAggregate, isDistinct: Boolean, i: Int): AggregateResult = {
    // Constants, such as a percentage, are part of the state's meaning.
    val constants = call.arguments.collect {
      case constant if constant.foldable => constant.sql
      case order: SortOrder => order.direction.sql + order.nullOrdering.sql
    }
    val name = (s"call_$i" +: call.prettyName +: constants).mkString("_")
    val read = call.arguments.flatMap(_.collect { case p: BoundReference => p })
    val places = read.distinctBy(_.ordinal)
    if (!retracting && !isDistinct) {
      val all = (places ++ call.filter.map(_.asInstanceOf[BoundReference])).distinctBy(_.ordinal)
      val own = new SparkAggregate(call, all.map(_.ordinal), all.map(_.dataType))
      val columns = new InputColumns(all.map(placeOf).toArray, all.map(_.dataType).toArray)
      MergedResult(slot(name, new MergedSlot(own, columns)))
    } else {
      val set = setOf(places, call.filter, keepsNulls = true)
      val unfiltered = call.copy(filter = None)
      val own = new SparkAggregate(unfiltered, places.map(_.ordinal), places.map(_.dataType))
      val made = slot(name, new RetainedSlot(own, call.dataType, isDistinct))
      set.retained += made
      RetainedResult(made, set.size)
    }
  }

  private def fed[S <: Slot](set: ValueSet, name: String, make: => S): S = {
    val made = slot(s"${name}_of_set_${setBuffer.indexOf(set)}", make)
    if (!set.fed.contains(made)) set.fed += made
    made
  }

  private def setOf(
      children: Seq[Expression],
      filter: Option[Expression] = None,
      keepsNulls: Boolean = false): ValueSet = {
    val (columns, by) = (children.map(placeOf), filter.map(placeOf))
    val found = setBuffer.find { set =>
      set.columns == columns && set.filter == by && set.keepsNulls == keepsNulls
    }
    found.foreach(set => asked(set.size))
    found.getOrElse {
      val size = slot(s"set_${setBuffer.size}", new SetSlot)
      val made = ValueSet(columns, children.map(_.dataType), by, keepsNulls, size)
      setBuffer += made
      made
    }
  }

  /** Place of a column in the input. */
  private def placeOf(argument: Expression): Int = argument match {
    case column: BoundReference => numKeys + column.ordinal
    case other => throw new IllegalStateException(s"no column: $other")
  }
}

private[changelog] object AggregateLayout {
  val name = "aggregate"

  /** The set number of a group's own entry. */
  val ofGroup: Int = -1

  /** The set number of a key's own entry, see [[RunningWindow]] and [[SessionFold]]. */
  val ofWindow: Int = -2
}

/** How a store keeps groups that are ranges of time. */
sealed abstract private[aggregate] class RangeStore extends Product with Serializable {

  /**
   * Whether the store finds the own entries of its keys by a prefix. The default provider's index
   * for prefixes would have all groups, so there all entries are read.
   */
  def scansBounds: Boolean

  /** The own entries of all keys; their rows may be overwritten when the next one is read. */
  final def ofKeys(entries: StateEntries): Iterator[UnsafeRowPair] =
    if (scansBounds) {
      val prefix = Literal(AggregateLayout.ofWindow, IntegerType)
      entries.withPrefix(ColumnProjection(Seq(prefix))(InternalRow.empty))
    } else entries.all.filter(_.key.getInt(0) == AggregateLayout.ofWindow)
}

/** Panes of windows that overlap. */
final private[aggregate] case class PaneStore(windows: PaneWindows, scansBounds: Boolean)
  extends RangeStore

/** Sessions. */
final private[aggregate] case class SessionStore(scansBounds: Boolean) extends RangeStore

private[aggregate] object RangeStore {
  def scans(conf: SQLConf): Boolean =
    conf.stateStoreProviderClass.endsWith("RocksDBStateStoreProvider")
}
