package io.firesteel.core.rows

import io.firesteel.core.expressions.Apart

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BasePredicate, BindReferences, BoundReference, Expression, If, JoinedRow, MutableProjection, Predicate, SpecificInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, DeclarativeAggregate, ImperativeAggregate, NoOp, TypedImperativeAggregate}
import org.apache.spark.sql.types.ObjectType

/**
 * Aggregate functions in parts: rows update buffers, buffers are merged, and the merged buffer is
 * evaluated. The arithmetic is Spark's own expressions, as in its aggregate operators.
 *
 * A *buffer* is a row that this class creates and only this class writes; functions such as
 * `collect_list` keep an object in it. A *state* is a buffer as data, a row of `stateAttributes`,
 * which can be shuffled and stored. It has the layout of Spark's own partial aggregates, so Spark's
 * final aggregates can read it.
 *
 * Not thread-safe; create it in the task that uses it.
 *
 * @param expressions the functions; their mode is ignored, and the caller handles their `DISTINCT`
 * @param input the columns of the input rows
 */
private[firesteel] final class MergeableAggregates(
    expressions: Seq[AggregateExpression],
    input: Seq[Attribute]) {
  import MergeableAggregates._

  private val functions: Array[AggregateFunction] = expressions.map(_.aggregateFunction).toArray

  /** Columns of a state. */
  val stateAttributes: Seq[Attribute] = functions.toSeq.flatMap(_.aggBufferAttributes)

  private val stateTypes = stateAttributes.map(_.dataType).toArray

  /** Whether a buffer is an `UnsafeRow` of fixed size, without objects. */
  val isFixed: Boolean = stateTypes.forall(UnsafeRow.isMutable)

  // For each imperative function its place in a buffer, and the function bound to input rows and
  // states.
  private val imperative: Array[Imperative] = {
    val offsets = functions.scanLeft(0)(_ + _.aggBufferAttributes.length)
    functions.indices.toArray.collect {
      case i if functions(i).isInstanceOf[ImperativeAggregate] =>
        // A caller that only merges has no input, so a column may be missing.
        val function = BindReferences
          .bindReference(functions(i): Expression, input, allowFailures = true)
          .asInstanceOf[ImperativeAggregate]
          .withNewMutableAggBufferOffset(offsets(i))
          .withNewInputAggBufferOffset(offsets(i))
        new Imperative(i, offsets(i), function, expressions(i).filter, input)
    }
  }

  /** Whether some function keeps an object in a buffer. */
  val hasObjects: Boolean =
    imperative.exists(_.function.isInstanceOf[TypedImperativeAggregate[_]])

  private val joined = new JoinedRow

  private val initial: InternalRow => InternalRow = {
    val values = projection(each(_.initialValues), Nil)
    values.target(_).apply(InternalRow.empty)
  }

  private lazy val updating: MutableProjection = {
    val together = Apart.filtersOf(expressions)
    val changes = expressions
      .map(call => call.copy(filter = call.filter.map(together(_))))
      .flatMap(MergeableAggregates.changes)
    projection(changes, stateAttributes ++ input)
  }

  private lazy val merging: MutableProjection = {
    val states = functions.toSeq.flatMap(_.inputAggBufferAttributes)
    projection(each(_.mergeExpressions), stateAttributes ++ states)
  }

  private lazy val evaluating: MutableProjection = {
    val results = functions.toSeq.map {
      case function: DeclarativeAggregate => function.evaluateExpression
      case _ => NoOp
    }
    projection(results, stateAttributes)
  }

  private lazy val toState: UnsafeProjection =
    UnsafeProjection.create(stateTypes.zipWithIndex.map { case (dataType, i) =>
      BoundReference(i, dataType, nullable = true): Expression
    }.toSeq)

  private lazy val emptyFixed: UnsafeRow = {
    val row = new SpecificInternalRow(stateTypes.toSeq)
    initial(row)
    toState(row).copy()
  }

  /** A buffer without rows. */
  def newBuffer(): InternalRow =
    if (isFixed && imperative.isEmpty) emptyFixed.copy()
    else {
      val buffer: InternalRow =
        if (isFixed) emptyFixed.copy() else new SpecificInternalRow(stateTypes.toSeq)
      initial(buffer)
      imperative.foreach(_.function.initialize(buffer))
      buffer
    }

  /** Updates `buffer` with one row. */
  def update(buffer: InternalRow, row: InternalRow): Unit = {
    val _ = updating.target(buffer)(joined(buffer, row))
    var i = 0
    while (i < imperative.length) {
      val one = imperative(i)
      if (one.accepts(row)) one.function.update(buffer, row)
      i += 1
    }
  }

  /** Merges `state` into `buffer`. */
  def merge(buffer: InternalRow, state: InternalRow): Unit = {
    val _ = merging.target(buffer)(joined(buffer, state))
    imperative.foreach(_.function.merge(buffer, state))
  }

  /**
   * Merges another buffer into `buffer`, without writing it as a state first. Functions with
   * objects may share parts of the other buffer afterwards: it must not be updated again. If it
   * must, merge its state instead.
   */
  def mergeBuffer(buffer: InternalRow, other: InternalRow): Unit = {
    val _ = merging.target(buffer)(joined(buffer, other))
    imperative.foreach { one =>
      one.function match {
        case typed: TypedImperativeAggregate[_] => typed.mergeBuffersObjects(buffer, other)
        case function => function.merge(buffer, other)
      }
    }
  }

  /** The state of `buffer`, in a row that the next call reuses. `buffer` stays in use. */
  def state(buffer: InternalRow): UnsafeRow = {
    val objects = imperative.collect {
      case one if one.function.isInstanceOf[TypedImperativeAggregate[_]] =>
        val kept = buffer.get(one.offset, anyObject)
        one.function
          .asInstanceOf[TypedImperativeAggregate[_]]
          .serializeAggregateBufferInPlace(buffer)
        one.offset -> kept
    }
    val state = buffer match {
      case row: UnsafeRow => row
      case row => toState(row)
    }
    objects.foreach { case (offset, kept) => buffer.update(offset, kept) }
    state
  }

  /** A buffer with the content of `state`; it shares nothing with it. */
  def bufferOf(state: InternalRow): InternalRow = state match {
    case row: UnsafeRow if isFixed => row.copy() // merging into an empty buffer
    case _ =>
      val buffer = newBuffer()
      merge(buffer, state)
      buffer
  }

  /**
   * The same without merging, which window functions such as `rank` cannot do; for functions that
   * keep no objects.
   */
  def restored(state: UnsafeRow): InternalRow =
    if (isFixed) state.copy()
    else {
      val buffer = new SpecificInternalRow(stateTypes.toSeq)
      stateTypes.indices.foreach { i =>
        if (!state.isNullAt(i)) buffer.update(i, InternalRow.copyValue(state.get(i, stateTypes(i))))
      }
      buffer
    }

  /** The same in a spare buffer if there is one, or in a new one. */
  def bufferOf(state: InternalRow, spare: InternalRow): InternalRow = (spare, state) match {
    case (buffer: UnsafeRow, row: UnsafeRow) if isFixed =>
      buffer.copyFrom(row)
      buffer
    case _ => bufferOf(state)
  }

  /** The results, one per expression, in a row that the next call reuses. */
  def results(buffer: InternalRow): InternalRow = {
    evaluating.target(resultRow)(buffer)
    imperative.foreach(one => resultRow.update(one.index, one.function.eval(buffer)))
    resultRow
  }

  private lazy val resultRow = new SpecificInternalRow(functions.toSeq.map(_.dataType))

  private def each(f: DeclarativeAggregate => Seq[Expression]): Seq[Expression] =
    functions.toSeq.flatMap {
      case function: DeclarativeAggregate => f(function)
      case function => nothing(function)
    }

  private def projection(expressions: Seq[Expression], columns: Seq[Attribute]): MutableProjection =
    MutableProjection.create(expressions.map(CopiedValue.of), columns)
}

private[firesteel] object MergeableAggregates {

  /**
   * The columns of a function's state after a row, as expressions over these columns and the row's.
   */
  def changes(expression: AggregateExpression): Seq[Expression] =
    expression.aggregateFunction match {
      case function: DeclarativeAggregate =>
        function.updateExpressions.zip(function.aggBufferAttributes).map { case (change, kept) =>
          expression.filter.fold(change)(filter => If(filter, change, kept))
        }
      case function => nothing(function)
    }

  private def nothing(function: AggregateFunction): Seq[Expression] =
    Seq.fill(function.aggBufferAttributes.length)(NoOp)

  /** An imperative function, its index, and the place of its columns in a buffer. */
  private final class Imperative(
      val index: Int,
      val offset: Int,
      val function: ImperativeAggregate,
      filter: Option[Expression],
      input: Seq[Attribute]) {

    private lazy val predicate: Option[BasePredicate] = filter.map(Predicate.create(_, input))

    def accepts(row: InternalRow): Boolean = predicate.forall(_.eval(row))
  }

  private val anyObject = ObjectType(classOf[AnyRef])
}
