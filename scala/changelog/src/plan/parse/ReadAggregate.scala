package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.{ChangelogErrors, StateTypes}
import io.firesteel.changelog.plan.{AnyAggregate, ChangelogOperator, ComputedColumns, GroupAggregate}
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression, If, Literal, NamedExpression, RuntimeReplaceableAggregate, SessionWindow, SortOrder, UserDefinedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, Average, Count, DeclarativeAggregate, First, ImperativeAggregate, Max, Min, Sum}
import org.apache.spark.sql.catalyst.plans.logical.Aggregate
import org.apache.spark.sql.execution.aggregate.TypedAggregateExpression
import org.apache.spark.sql.firesteel.normalizeFloats
import org.apache.spark.sql.types.{DataType, NumericType}

/** An aggregate as an operator, and the query's columns over its results. */
final private[parse] case class ReadAggregate(
    operator: GroupAggregate,
    columns: Seq[NamedExpression])

private[parse] object ReadAggregate {

  /** Expressions that the aggregate evaluates over its input. */
  def evaluated(aggregate: Aggregate): Seq[Expression] =
    aggregate.groupingExpressions ++ aggregate.aggregateExpressions
      .flatMap(_.collect { case call: AggregateExpression =>
        replaced(call.aggregateFunction).children ++ call.filter
      }).flatten

  /** The aggregate with columns for what it evaluates of tables; its results may read others. */
  def over(aggregate: Aggregate, kept: KeptSubqueries.Kept): Aggregate = {
    val keys = aggregate.groupingExpressions
    aggregate.copy(
      groupingExpressions = keys.map(kept(_)),
      aggregateExpressions = aggregate.aggregateExpressions.map(_.transformDown {
        case call: AggregateExpression => kept(call)
        case part if keys.exists(_.semanticEquals(part)) => kept(part)
      }.asInstanceOf[NamedExpression])
    )
  }

  /**
   * @param closedBy the end of a session by which the watermark closes the groups, if it does
   * @param closedAfter how long after that end, in microseconds
   */
  def apply(
      aggregate: Aggregate,
      ttlMs: Long,
      input: ChangelogOperator,
      closedBy: Option[AggregateExpression] = None,
      closedAfter: Long = 0L): ReadAggregate = {
    val retracting = !input.facts.changes.insertOnly
    val below = new ComputedColumns()
    val keys = aggregate.groupingExpressions.map(g => Key(g, below))
    StateTypes.require("GROUP BY", keys.map(_.column))
    val calls = (aggregate.aggregateExpressions ++ closedBy)
      .flatMap(_.collect { case call: AggregateExpression => call })
      .distinctBy(_.canonicalized)
      .map(call => call -> Call(call, below, retracting))
    def resultOf(call: AggregateExpression) = calls.collectFirst {
      case (known, read) if known.canonicalized == call.canonicalized => read.result
    }.get
    val all = keys.distinctBy(_.column.exprId).flatMap(_.first) ++ calls.map(_._2)
    val operator = GroupAggregate(
      keys.map(_.column).distinctBy(_.exprId),
      all.map(_.function),
      all.map(_.distinct),
      all.map(_.result),
      ttlMs,
      below.over(input),
      closedBy = closedBy.map(resultOf(_).withName("session_end")),
      closedAfter = closedAfter
    )
    val columns = aggregate.aggregateExpressions.map { column =>
      ComputedColumns.named(
        column,
        column.transformDown {
          case call: AggregateExpression => resultOf(call)
          case part if keys.exists(_.written.semanticEquals(part)) =>
            keys.find(_.written.semanticEquals(part)).get.shown
        }
      )
    }
    ReadAggregate(operator, columns)
  }

  /** Spark's analyzer only writes the session of one row, and merges those of a `GROUP BY`. */
  private def requireNoSession(keys: Seq[Expression]): Unit =
    if (keys.exists(_.references.exists(_.metadata.contains(SessionWindow.marker)))) {
      throw ChangelogErrors.unsupportedOperator(
        "DISTINCT of session_window",
        "these are sessions of one row each",
        "use GROUP BY session_window(...)")
    }

  /** Functions that Spark's versions do not agree to call deterministic. */
  private val ofOrder =
    Set("first", "first_value", "last", "last_value", "any_value", "collect_list", "listagg")

  /** Whether a result depends on the order in which rows come, as that of `first`. */
  def needsOrder(expression: Expression): Boolean = expression match {
    case call: AggregateExpression =>
      val function = call.aggregateFunction
      !function.deterministic || function.isInstanceOf[UserDefinedExpression] ||
      ofOrder(function.prettyName)
    case _ => false
  }

  /** `SELECT DISTINCT`: groups of all columns, without aggregates. */
  def distinct(ttlMs: Long, input: ChangelogOperator): ChangelogOperator = {
    requireNoSession(input.output)
    val below = new ComputedColumns()
    val keys = input.output.map(column => Key(column, below))
    StateTypes.require("DISTINCT", keys.map(_.column))
    val own = keys.distinctBy(_.column.exprId)
    val firsts = own.flatMap(_.first)
    val operator = GroupAggregate(
      own.map(_.column),
      firsts.map(_.function),
      firsts.map(_.distinct),
      firsts.map(_.result),
      ttlMs,
      below.over(input))
    val shown = own.map(key => key.column.exprId -> key.shown).toMap
    ComputedColumns.named(input.output.zip(keys.map(key => shown(key.column.exprId))), operator)
  }

  /**
   * A key of the groups.
   *
   * @param written the user's expression
   * @param column the normal form, whose bytes are equal in a group
   * @param first the first value of the group: the string that the result shows for a key of a
   *   collation
   */
  final private case class Key(written: Expression, column: Attribute, first: Option[Call]) {
    def shown: Attribute = first.fold(column)(_.result)
  }

  private object Key {
    def apply(written: Expression, below: ComputedColumns): Key = {
      val column = below.of(StateTypes.normalForm(written))
      val first = Option.when(column.dataType != written.dataType) {
        val function = First(below.of(written), ignoreNulls = false)
        val result = AttributeReference(column.name, written.dataType)()
        Call(AnyAggregate(function, None), distinct = false, result)
      }
      Key(written, column, first)
    }
  }

  /** One call. Its arguments are columns, which are null if its `FILTER` is not true. */
  final private case class Call(
      function: Expression,
      distinct: Boolean,
      result: Attribute)

  private object Call {
    def apply(call: AggregateExpression, below: ComputedColumns, retracting: Boolean): Call = {
      val function = replaced(call.aggregateFunction)
      val distinct = call.isDistinct && !function.isInstanceOf[Min] && !function.isInstanceOf[Max]
      def argument(value: Expression): Attribute = {
        val filtered =
          call.filter.fold(value)(f => If(f, value, Literal(null, value.dataType)))
        below.of(if (distinct) StateTypes.normalForm(filtered) else filtered)
      }
      val read: Expression = function match {
        case Count(Seq(Literal(value, _))) if value != null && call.filter.isEmpty && !distinct =>
          Count(Seq(Literal(1)))
        // Spark's optimizer takes `count()`, which an old setting allows, for the count of a null.
        case Count(Nil) => Count(Seq(argument(Literal(null))))
        case Count(values) => Count(values.map(argument))
        case sum: Sum if isNumber(sum.child) => sum.copy(child = argument(sum.child))
        case average: Average if isNumber(average.child) =>
          average.copy(child = argument(average.child))
        case min: Min => min.copy(child = argument(min.child))
        case max: Max => max.copy(child = argument(max.child))
        case other => any(other, call.filter, distinct, below)
      }
      read match {
        case _: Count if !distinct => ()
        case _: AnyAggregate if !retracting && !distinct => ()
        case any: AnyAggregate if !distinct =>
          StateTypes.requireValues(function.prettyName, any.function.references.toSeq)
        case any: AnyAggregate =>
          StateTypes.require(function.prettyName, any.function.references.toSeq)
        case extreme @ (_: Min | _: Max) =>
          StateTypes.requireValues(function.prettyName, extreme.references.toSeq)
        case other =>
          StateTypes.require(
            function.prettyName,
            other.children.map(_.asInstanceOf[Attribute]))
      }
      val result =
        AttributeReference(function.prettyName, function.dataType, function.nullable)()
      Call(read, distinct, result)
    }
  }

  /** Any other call. Its arguments are columns and constants. */
  private def any(
      function: AggregateFunction,
      filter: Option[Expression],
      distinct: Boolean,
      below: ComputedColumns): AnyAggregate = function match {
    case typed: TypedAggregateExpression =>
      throw ChangelogErrors.unsupportedFunction(
        typed.prettyName,
        "an Aggregator as a column reads objects, which rows between operators cannot hold: make it " +
          "a function by udaf()")
    case _: DeclarativeAggregate | _: ImperativeAggregate =>
      // An expression over rows that the filter excludes must not fail.
      def column(value: Expression) = {
        val wanted = filter.fold(value)(f => If(f, value, Literal(null, value.dataType)))
        below.of(if (distinct) normalizeFloats(wanted) else wanted)
      }
      val columns = function.mapChildren {
        case constant if constant.foldable => constant
        case order: SortOrder => order.copy(child = column(order.child), sameOrderExpressions = Nil)
        case value => column(value)
      }
      AnyAggregate(columns.asInstanceOf[AggregateFunction], filter.map(below.of))
    case other =>
      throw ChangelogErrors.unsupportedFunction(
        other.prettyName,
        "it does not run in Spark's own aggregates")
  }

  /** `count_if`, `bool_and` and similar functions are defined by other functions. */
  private def replaced(function: AggregateFunction): AggregateFunction = function match {
    case replaceable: RuntimeReplaceableAggregate =>
      replaceable.replacement.asInstanceOf[AggregateFunction]
    case other => other
  }

  private def isNumber(value: Expression): Boolean = (value.dataType: DataType) match {
    case _: NumericType => true
    case _ => false
  }
}
