package io.firesteel.skew

import io.firesteel.core.decide.Decisions
import io.firesteel.core.expressions.{Apart, CannotFail, SumOrder}
import io.firesteel.core.plans.NativeOperators
import io.firesteel.core.rows.{KeyReader, RawColumns, WideSum}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression, GetStructField, If, Literal, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, DeclarativeAggregate, ImperativeAggregate, Percentile}
import org.apache.spark.sql.catalyst.planning.PhysicalAggregation
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.aggregate.{AggUtils, BaseAggregateExec}
import org.apache.spark.sql.firesteel.{normalizeFloats, sparkAggregate}

/**
 * Plans an aggregate with percentiles so that its rows are not sorted.
 *
 * {{{
 *   Aggregate [k], percentile(v, 0.5),      ObjectHashAggregate [k], percentile(v, 0.5), sum(x)
 *                  sum(x)                => +- Exchange hashpartitioning(k)
 *   +- child                                   +- PartialPercentiles [k], v, sum(x)
 *                                                 +- child
 * }}}
 *
 * Spark's own partial aggregate keeps an object for each group, and begins to sort its rows by the
 * keys after 128 groups. Several percentiles of the same numbers are computed at once.
 *
 * Where another extension computes the percentiles natively, as DataFusion Comet does, that is
 * faster, and the aggregate is planned as the query wrote it.
 *
 * [[SortPercentiles]] has decided. Aggregates with `DISTINCT`, and functions without partial
 * results, are planned by others.
 */
final class PlanPercentiles(session: SparkSession) extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case aggregate: Aggregate if SortedPercentile.isIn(aggregate) && !aggregate.isStreaming =>
      val written = SortedPercentile.asWritten(aggregate)
      nativeOperator(written) match {
        case Some(operator) =>
          Decisions.decline(aggregate, SortPercentiles.name, SkewDecline.NativePercentile(operator))
          sparkAggregate(session, written)
        case None =>
          val made = percentiles(aggregate)
          // Adaptive execution may have asked before, of another input.
          if (made.nonEmpty) Decisions.fire(aggregate, SortPercentiles.name)
          made
      }
    case _ => Nil
  }

  /** The operator of another extension that computes the percentiles, if one does. */
  private def nativeOperator(written: Aggregate): Option[String] =
    NativeOperators.replacing(session, written).filterNot(_.exists {
      case sparks: BaseAggregateExec =>
        sparks.aggregateExpressions.exists(_.aggregateFunction.isInstanceOf[Percentile])
      case _ => false
    }).map(_.nodeName)

  private def percentiles(plan: Aggregate): Seq[SparkPlan] = plan match {
    case PhysicalAggregation(grouping, calls, results, child)
        if calls.exists(isPercentile) && calls.forall(isSupported) &&
          grouping.forall(isSupportedKey) && SumOrder.confused(calls).isEmpty =>
      Seq(planned(grouping, calls, results, child))
    case _ => Nil
  }

  private def isPercentile(call: AggregateExpression): Boolean =
    call.aggregateFunction.isInstanceOf[SortedPercentile]

  private def isSupported(call: AggregateExpression): Boolean =
    !call.isDistinct && (call.aggregateFunction match {
      case _: KeptFunction => false
      // Where memory is short each row may be a group: `first` would compute an argument that fails.
      case function: DeclarativeAggregate =>
        function.children.forall(CannotFail.isComputedAlways(function, _))
      case function: ImperativeAggregate => EmptyState.isNeutral(function)
      case _ => false
    })

  private def isSupportedKey(key: NamedExpression): Boolean =
    DistinctQuery.isComparable(key.dataType) && !DistinctQuery.isSession(key)

  private def planned(
      grouping: Seq[NamedExpression],
      calls: Seq[AggregateExpression],
      results: Seq[NamedExpression],
      below: LogicalPlan): SparkPlan = {
    val normalised = grouping.map { key =>
      normalizeFloats(key) match {
        case named: NamedExpression => named
        case other => Alias(other, key.name)(exprId = key.exprId)
      }
    }
    val raw = RawColumns.of(normalised, calls)
    val (percentiles, others) = calls.map(raw.over).partition(isPercentile)
    val arguments = Arguments.of(others, always = false)
    // Early partial results are added in another order than Spark's.
    val ordinary = others.map(call => WideSum.of(arguments.over(call)))
    val merged = MergedPercentiles.of(percentiles)
    val keys = normalised.map(_.toAttribute)
    val values = merged.calls.map { call =>
      val child = call.aggregateFunction.asInstanceOf[SortedPercentile].child
      (child, call.filter) match {
        case (column: Attribute, None) => column
        case (_, None) => Alias(child, "value")()
        case (_, Some(filter)) => Alias(If(filter, child, Literal(null, child.dataType)), "value")()
      }
    }
    val functions = ordinary ++ merged.calls
    val read = ordinary.flatMap(_.references).distinct
    val partial = PartialPercentilesExec(
      keys,
      ordinary,
      values.map(_.toAttribute),
      keys ++ functions.flatMap(_.aggregateFunction.inputAggBufferAttributes),
      KeyReader.project(
        normalised ++ Apart.of(values ++ arguments.columns) ++ read,
        planLater(raw.below(below)))
    )
    AggUtils
      .planAggregateWithoutDistinct(
        keys,
        functions.map(_.copy(filter = None)),
        results.map(merged.over),
        partial)
      .head
      .withNewChildren(Seq(partial))
  }
}

/**
 * Percentiles in which calls over the same numbers are one.
 *
 * @param results for the result of a call that is part of another, its field
 */
private[skew] final class MergedPercentiles private (
    val calls: Seq[AggregateExpression],
    results: AttributeMap[Expression]) {

  /** A result of the query, over the results of `calls`. */
  def over(result: NamedExpression): NamedExpression =
    if (results.isEmpty) result
    else
      result
        .transform { case column: Attribute => results.getOrElse(column, column) }
        .asInstanceOf[NamedExpression]
}

private[skew] object MergedPercentiles {

  def of(calls: Seq[AggregateExpression]): MergedPercentiles = {
    val groups = calls.groupBy { call =>
      (functionOf(call).child.canonicalized, call.filter.map(_.canonicalized))
    }.values.toSeq.sortBy(group => calls.indexOf(group.head))
    val (merged, results) = groups.map(mergedGroup).unzip
    new MergedPercentiles(merged, AttributeMap(results.flatten))
  }

  private def mergedGroup(
      group: Seq[AggregateExpression]): (AggregateExpression, Seq[(Attribute, Expression)]) =
    if (group.size == 1) (group.head, Nil)
    else {
      val functions = group.map(functionOf)
      val all = group.head.copy(
        aggregateFunction = functions.head.copy(
          percentages = functions.flatMap(_.percentages),
          reverses = functions.flatMap(_.reverses)),
        resultId = NamedExpression.newExprId
      )
      val fields = group.zipWithIndex.map { case (call, i) =>
        call.resultAttribute -> GetStructField(all.resultAttribute, i)
      }
      (all, fields)
    }

  private def functionOf(call: AggregateExpression): SortedPercentile =
    call.aggregateFunction.asInstanceOf[SortedPercentile]
}
