package io.firesteel.shuffle

import io.firesteel.core.rows.WideSum
import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, NamedExpression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, Final}
import org.apache.spark.sql.execution.{SortExec, SparkPlan}
import org.apache.spark.sql.execution.aggregate.{BaseAggregateExec, HashAggregateExec, ObjectHashAggregateExec, SortAggregateExec}
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec

/**
 * Sums that may overflow before the end ([[WideSum]]), in all aggregates that read their states.
 *
 * The final aggregate adds unaggregated rows to rows of other tasks. Spark would add up each task's
 * rows first.
 *
 * @param functions by the ids of their calls' results
 */
final private[shuffle] class WideStates private (private val functions: Map[
  ExprId,
  AggregateFunction]) {

  def isEmpty: Boolean = functions.isEmpty

  def ++(others: WideStates): WideStates = new WideStates(functions ++ others.functions)

  /** Whether only aggregates, up to the final one, read the states of the plan below `above`. */
  @tailrec
  def areReadBy(above: List[SparkPlan]): Boolean = above match {
    case (aggregate: BaseAggregateExec) :: rest =>
      val calls = aggregate.aggregateExpressions.filter(isOne)
      calls.size == functions.size && in(aggregate).isDefined &&
      (calls.forall(_.mode == Final) || areReadBy(rest))
    case (_: ShuffleExchangeExec | _: SortExec | _: PassesRows) :: rest => areReadBy(rest)
    case _ => false
  }

  /** The plan with these functions in its aggregates. */
  def inAll(plan: SparkPlan): SparkPlan =
    if (isEmpty) plan
    else plan.transformUp {
      case aggregate: BaseAggregateExec if aggregate.aggregateExpressions.exists(isOne) =>
        in(aggregate).getOrElse(aggregate)
    }

  /** The aggregate with these functions; `None` if it does not emit exactly their states. */
  def in(aggregate: BaseAggregateExec): Option[BaseAggregateExec] = {
    val changed = aggregate.aggregateExpressions.filter(isOne)
    val results = aggregate.resultExpressions
    def isThere(call: AggregateExpression): Boolean =
      call.mode == Final || results.containsSlice(call.aggregateFunction.inputAggBufferAttributes)
    if (!changed.forall(isThere)) None
    else changing(
      aggregate,
      aggregate.aggregateExpressions.map(call =>
        functions.get(call.resultId).fold(call)(f => call.copy(aggregateFunction = f))),
      changed.foldLeft(aggregate.aggregateAttributes)(withStates),
      changed.foldLeft(results)(withStates)
    )
  }

  private def isOne(call: AggregateExpression): Boolean = functions.contains(call.resultId)

  /**
   * The columns, with the wide function's states instead of the states of the call's own function.
   */
  private def withStates[A >: Attribute <: NamedExpression](
      columns: Seq[A],
      call: AggregateExpression): Seq[A] = {
    val (before, after) = (call.aggregateFunction, functions(call.resultId))
    Seq(
      before.aggBufferAttributes -> after.aggBufferAttributes,
      before.inputAggBufferAttributes -> after.inputAggBufferAttributes
    ).foldLeft(columns) { case (all, (old, wide)) =>
      val at = all.indexOfSlice(old)
      if (at < 0) all else all.patch(at, wide, old.size)
    }
  }

  private def changing(
      aggregate: BaseAggregateExec,
      calls: Seq[AggregateExpression],
      attributes: Seq[Attribute],
      results: Seq[NamedExpression]): Option[BaseAggregateExec] = aggregate match {
    case hash: HashAggregateExec =>
      Some(hash.copy(
        aggregateExpressions = calls,
        aggregateAttributes = attributes,
        resultExpressions = results))
    case sort: SortAggregateExec =>
      Some(sort.copy(
        aggregateExpressions = calls,
        aggregateAttributes = attributes,
        resultExpressions = results))
    case objects: ObjectHashAggregateExec =>
      Some(objects.copy(
        aggregateExpressions = calls,
        aggregateAttributes = attributes,
        resultExpressions = results))
    case _ => None
  }
}

private[shuffle] object WideStates {

  val none: WideStates = new WideStates(Map.empty)

  /** The sums of an aggregate that may overflow before the end. */
  def of(aggregate: BaseAggregateExec): WideStates =
    new WideStates(
      aggregate.aggregateExpressions
        .filter(call => WideSum.mayOverflow(call.aggregateFunction))
        .map(call => call.resultId -> WideSum.of(call).aggregateFunction)
        .toMap)
}
