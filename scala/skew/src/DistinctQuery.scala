package io.firesteel.skew

import io.firesteel.core.decide.Decline
import io.firesteel.core.rows.RawColumns
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression, PythonUDF, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Average, CentralMomentAgg, CollectList, CollectSet, Count, DeclarativeAggregate, ImperativeAggregate, Sum}
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.firesteel.{binaryKey, normalizeFloats}
import org.apache.spark.sql.types.{ArrayType, BinaryType, DataType, DoubleType, FloatType, StringType, StructType, UserDefinedType}

/**
 * An aggregate with `DISTINCT`s, taken apart.
 *
 * @param grouping keys, equal in their bytes when they are equal
 * @param ordinary the aggregates without `DISTINCT`
 * @param results what the query wants, over the keys and the aggregates' results
 */
private[skew] final case class DistinctQuery(
    grouping: Seq[NamedExpression],
    ordinary: Seq[AggregateExpression],
    columns: Seq[DistinctColumn],
    results: Seq[NamedExpression],
    child: LogicalPlan,
    phases: Phases) {

  /** Why this room does not compute it. */
  def refusal: Option[Decline] = {
    val checks: Seq[() => Option[Decline]] = Seq(
      () => if (child.isStreaming) Some(SkewDecline.Streaming) else None,
      () => phases.refusal,
      () => if (hasDistincts) sourceAggregates else None,
      () => if (isWorthwhile) None else Some(SkewDecline.OneDistinct),
      () => pythonFunction,
      () => unsupportedFunction,
      () => notMergeable,
      () => unsupportedType
    )
    checks.iterator.flatMap(_()).nextOption()
  }

  /** Whether a call of the aggregate is computed of distinct values. */
  def takes(call: AggregateExpression): Boolean =
    call.isDistinct || phases.takeSets && DistinctQuery.isSet(call)

  private def hasDistincts: Boolean = columns.exists(_.functions.exists(_.isDistinct))

  /** A database that counts by itself hands over a row for each group, and not all of its rows. */
  private def sourceAggregates: Option[Decline] =
    AggregatingSource.below(child).map(SkewDecline.SourceAggregates(_))

  private def isWorthwhile: Boolean = {
    // Of a set Spark keeps objects for each group, below the exchange and above.
    val hasSet = columns.exists(_.functions.exists(one => DistinctQuery.isList(one)))
    copiesOfRows > 1 || hasSet || phases.areForced
  }

  /** How many rows Spark's rewrite makes of one: filters over one set of values share a copy. */
  private def copiesOfRows: Int = {
    val sets = columns.map(_.values.map(_.canonicalized).toSet).distinct.size
    val isRewritten = sets > 1 || columns.exists(_.filter.isDefined)
    if (isRewritten) sets + math.min(ordinary.size, 1) else 1
  }

  /** Spark takes these out of keys and arguments later, and would not find them in what is kept. */
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
            !function.isInstanceOf[ImperativeAggregate] =>
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
   * @param takesSets whether sets are taken whatever is known of the groups
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
   * Whether it is `collect_set` of values that are equal exactly when their bytes are: then it is
   * a list of distinct values. Spark's set holds two NaN for different, so no floats.
   */
  private def isSet(one: AggregateExpression): Boolean = one.aggregateFunction match {
    case set: CollectSet =>
      set.ignoreNulls && isComparable(set.child.dataType, floats = false)
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
    // In the order of the query, so that plans are the same from run to run.
    distinct
      .map(one => groups.values.find(_.contains(one)).get)
      .distinct
      .map(group => DistinctColumn(group.head.aggregateFunction.children, group.head.filter, group))
  }

  /** Functions that a null adds nothing to, and that need not see values in any order. */
  private def isSupported(function: Expression): Boolean = function match {
    case _: Count | _: Sum | _: Average | _: CentralMomentAgg => true
    case list: CollectList => list.ignoreNulls
    case _ => false
  }

  /**
   * Whether values are equal exactly when their bytes are.
   *
   * @param floats whether floating-point numbers are, which holds once they are normalised
   */
  private def isComparable(dataType: DataType, floats: Boolean = true): Boolean = dataType match {
    case _: UserDefinedType[_] => false
    case array: ArrayType => isComparable(array.elementType, floats)
    case struct: StructType => struct.forall(field => isComparable(field.dataType, floats))
    case _: StringType | _: BinaryType => UnsafeRowUtils.isBinaryStable(dataType)
    case DoubleType | FloatType => floats
    case other => UnsafeRow.isMutable(other)
  }
}
