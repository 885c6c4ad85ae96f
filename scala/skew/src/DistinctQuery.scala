package io.firesteel.skew

import io.firesteel.core.decide.Decline
import io.firesteel.core.rows.RawColumns
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression, PythonUDF, SessionWindow, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Average, CentralMomentAgg, CollectList, CollectSet, Count, DeclarativeAggregate, ImperativeAggregate, Sum}
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.firesteel.{binaryKey, ignoresNulls, normalizeFloats}
import org.apache.spark.sql.types.{ArrayType, BinaryType, DataType, DoubleType, FloatType, StringType, StructType, UserDefinedType}

/**
 * The parts of an aggregate with `DISTINCT`s.
 *
 * @param grouping keys; equal keys have equal bytes
 * @param ordinary the aggregates without `DISTINCT`
 * @param results the query's output, over the keys and the aggregates' results
 */
private[skew] final case class DistinctQuery(
    grouping: Seq[NamedExpression],
    ordinary: Seq[AggregateExpression],
    columns: Seq[DistinctColumn],
    results: Seq[NamedExpression],
    child: LogicalPlan,
    phases: Phases) {

  /** Why this room does not compute the query, if it does not. */
  def refusal: Option[Decline] = {
    val checks: Seq[() => Option[Decline]] = Seq(
      () => if (child.isStreaming) Some(SkewDecline.Streaming) else None,
      () => phases.refusal,
      () => if (hasDistincts) sourceAggregates else None,
      () => sessionWindow,
      () => if (isWorthwhile) None else Some(SkewDecline.OneDistinct),
      () => pythonFunction,
      () => unsupportedFunction,
      () => notMergeable,
      () => unsupportedType
    )
    checks.iterator.flatMap(_()).nextOption()
  }

  /** Whether this room computes a call of the aggregate from distinct values. */
  def takes(call: AggregateExpression): Boolean =
    call.isDistinct || phases.takeSets && DistinctQuery.isSet(call)

  private def hasDistincts: Boolean = columns.exists(_.functions.exists(_.isDistinct))

  /** A source that computes the aggregate returns one row for each group instead of all rows. */
  private def sourceAggregates: Option[Decline] =
    AggregatingSource.below(child).map(SkewDecline.SourceAggregates(_))

  private def sessionWindow: Option[Decline] =
    grouping.find(DistinctQuery.isSession).map(key => SkewDecline.SessionKey(key.name))

  private def isWorthwhile: Boolean = {
    // For a set Spark holds objects for each group, below and above the exchange.
    val hasSet = columns.exists(_.functions.exists(one => DistinctQuery.isList(one)))
    copiesOfRows > 1 || hasSet || phases.areForced
  }

  /** How many copies of a row Spark's rewrite makes. Filters over the same values share a copy. */
  private def copiesOfRows: Int =
    if (isRewritten) sets + (if (ordinary.nonEmpty || columns.size > distincts.size) 1 else 0)
    else 1

  private def sets: Int = distincts.map(_.values.map(_.canonicalized).toSet).distinct.size

  private def distincts = columns.filter(_.functions.exists(_.isDistinct))

  /**
   * Whether Spark copies rows. It then computes the arguments of all functions for each row. For
   * `collect_set` it makes no copies.
   */
  def isRewritten: Boolean = sets > 1 || distincts.exists(_.filter.isDefined)

  /**
   * Whether this room can compute all of its functions. Spark may have merged the aggregate with
   * another one after [[refusal]] was asked.
   */
  def isPossible: Boolean =
    Seq(pythonFunction, unsupportedFunction, notMergeable, unsupportedType).forall(_.isEmpty)

  /** Spark extracts Python functions later and would not find them in a [[KeptFunction]]. */
  private def pythonFunction: Option[Decline] =
    (grouping ++ ordinary ++ columns.flatMap(c => c.values ++ c.filter))
      .flatMap(_.collectFirst { case function: PythonUDF => function.name })
      .headOption
      .map(SkewDecline.PythonFunction(_))

  private def unsupportedFunction: Option[Decline] =
    columns.flatMap(_.functions).map(_.aggregateFunction).collectFirst {
      case function if !DistinctQuery.isSupported(function) =>
        SkewDecline.UnsupportedFunction(function.prettyName)
    }

  private def notMergeable: Option[Decline] =
    ordinary.map(_.aggregateFunction).collectFirst {
      case function
          if !function.isInstanceOf[DeclarativeAggregate] &&
            !function.isInstanceOf[ImperativeAggregate] || !EmptyState.isNeutral(function) =>
        SkewDecline.NotMergeable(function.prettyName)
    }

  private def unsupportedType: Option[Decline] = {
    val keys = grouping.filterNot(key => DistinctQuery.isComparable(key.dataType))
    val values = columns.flatMap { column =>
      column.values.filterNot { value =>
        val compared = if (column.isCount) binaryKey(value) else value
        DistinctQuery.isComparable(compared.dataType)
      }
    }
    (keys ++ values).headOption.map { e =>
      SkewDecline.UnsupportedType(e.sql, e.dataType.simpleString)
    }
  }
}

private[skew] object DistinctQuery {

  /**
   * `None` for an aggregate with neither a `DISTINCT` nor a set.
   *
   * @param takesSets whether to compute sets whatever is known of the groups
   */
  def of(aggregate: Aggregate, takesSets: Boolean = false): Option[DistinctQuery] =
    aggregate match {
      case PhysicalAggregation(grouping, called, results, below)
          if called.exists(one => one.isDistinct || isSet(one)) =>
        val normalised = grouping.map { key =>
          normalizeFloats(key) match {
            case named: NamedExpression => named
            case other => Alias(other, key.name)(exprId = key.exprId)
          }
        }
        val raw = RawColumns.of(normalised, called)
        val (aggregates, child) = (called.map(raw.over), raw.below(below))
        val distinct = aggregates.filter(_.isDistinct)
        val possible = aggregates.filter(one => !one.isDistinct && isSet(one))
        val known =
          Phases.of(grouping, child, PhasesHint.of(aggregate), distinct.nonEmpty, possible.nonEmpty)
        val phases = if (takesSets) known.copy(takeSets = true) else known
        val sets = if (phases.takeSets) possible else Nil
        val ordinary = aggregates.filterNot(one => one.isDistinct || sets.contains(one))
        Some(DistinctQuery(
          normalised,
          ordinary,
          columnsOf(distinct ++ sets.map(listOfSet)),
          results,
          child,
          phases))
      case _ => None
    }

  /**
   * Whether it is `collect_set` of values that are equal exactly when their bytes are. Such a set
   * is a list of distinct values. Floats do not qualify: Spark's set keeps NaN several times.
   */
  private def isSet(one: AggregateExpression): Boolean = one.aggregateFunction match {
    case set: CollectSet =>
      ignoresNulls(set) && isComparable(set.child.dataType, floats = false)
    case _ => false
  }

  private def listOfSet(one: AggregateExpression): AggregateExpression =
    one.aggregateFunction match {
      case set: CollectSet => one.copy(aggregateFunction = CollectList(set.child))
      case _ => one
    }

  private def isList(one: AggregateExpression): Boolean =
    one.aggregateFunction.isInstanceOf[CollectList]

  private def columnsOf(distinct: Seq[AggregateExpression]): Seq[DistinctColumn] = {
    val groups = distinct.groupBy { one =>
      (one.aggregateFunction.children.map(_.canonicalized), one.filter.map(_.canonicalized))
    }
    // In the order of the query: the plan is then the same in each run.
    distinct
      .map(one => groups.values.find(_.contains(one)).get)
      .distinct
      .map(group => DistinctColumn(group.head.aggregateFunction.children, group.head.filter, group))
  }

  /** Functions that ignore nulls and the order of values. */
  private def isSupported(function: Expression): Boolean = function match {
    case _: Count | _: Sum | _: Average | _: CentralMomentAgg => true
    case list: CollectList => ignoresNulls(list)
    case _ => false
  }

  /**
   * Whether it is a session window. Spark adds an operator that merges sessions above the partial
   * aggregates: only then are the keys of a row known.
   */
  private[skew] def isSession(key: NamedExpression): Boolean =
    (key +: key.references.toSeq).exists(_.metadata.contains(SessionWindow.marker))

  /**
   * Whether values are equal exactly when their bytes are.
   *
   * @param floats whether that holds for floating-point numbers, which it does once they are
   *   normalised
   */
  private[skew] def isComparable(dataType: DataType, floats: Boolean = true): Boolean =
    dataType match {
      case _: UserDefinedType[_] => false
      case array: ArrayType => isComparable(array.elementType, floats)
      case struct: StructType => struct.forall(field => isComparable(field.dataType, floats))
      case _: StringType | _: BinaryType => UnsafeRowUtils.isBinaryStable(dataType)
      case DoubleType | FloatType => floats
      case other => UnsafeRow.isMutable(other)
    }
}
