package io.firesteel.skew

import io.firesteel.core.expressions.{Apart, CannotFail}
import io.firesteel.core.rows.WideSum
import org.apache.spark.sql.catalyst.expressions.{Alias, And, AttributeSet, Expression, ExpressionSet, If, Literal, NamedExpression, Or, SortOrder}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project}

/**
 * Several branches over one input as one aggregate.
 *
 * {{{
 *   Aggregate [avg(x) FILTER (f1) AS a, sum(If(f2, x * y, null)) FILTER (f2) AS s]
 *   +- Project [x, y, (q <= 5) AS f1, (q > 90) AS f2]
 *      +- Filter ((q <= 5) OR (q > 90))
 *         +- input
 * }}}
 *
 * Each condition is evaluated once a row, whatever the number of functions under it. Arguments that
 * can fail are evaluated only on rows of their own branch. `FILTER` alone does not ensure that:
 * Spark evaluates common subexpressions of all functions before it.
 */
private[skew] object MergedAggregate {

  /** @param branches all over the same input */
  def of(branches: Seq[GlobalBranch]): Aggregate =
    merged(if (branches.exists(hasDistinct)) branches.map(withWideSums) else branches)

  private def hasDistinct(branch: GlobalBranch): Boolean = branch.calls.exists(_.isDistinct)

  /** If another branch has a `DISTINCT`, Spark first adds up within each distinct value. */
  private def withWideSums(branch: GlobalBranch): GlobalBranch =
    branch.copy(results = branch.results.map(_.transform {
      case call: AggregateExpression if !call.isDistinct => WideSum.of(call)
    }.asInstanceOf[NamedExpression]))

  private def merged(branches: Seq[GlobalBranch]): Aggregate = {
    val input = branches.head.input
    val apart = takenApart(branches)
    val conditions = branches.map(_.filter)
    if (conditions.distinct.size == 1) {
      // All filters are equal: one serves all branches.
      val rows = branches.head.conditions.reduceOption(And).fold(input)(Filter(_, input))
      aggregate(
        branches.flatMap(_.results).map(apart),
        rows,
        AttributeSet(branches.flatMap(_.columnsRead)))
    } else {
      val marks = marksOf(branches)
      val results = branches.flatMap { branch =>
        marks.get(branch.filter).fold(branch.results.map(apart)) { mark =>
          branch.results.map(onlyOf(mark.toAttribute, _))
        }
      }
      val filters = branches.map(branch => new BranchFilter(branch.conditions))
      val rows =
        if (branches.exists(_.conditions.isEmpty)) input
        else Filter(Apart.alone(filters.map(_.coarse).distinct.reduce(Or)), input)
      aggregate(results, rows, AttributeSet(results.flatMap(_.references)), marks.values.toSeq)
    }
  }

  /** Spark computes what functions of one aggregate have in common before them. */
  private def takenApart(branches: Seq[GlobalBranch]): NamedExpression => NamedExpression = {
    val together = Apart.groupsTogether(branches.flatMap { branch =>
      val all = branch.calls.flatMap(call => call.aggregateFunction.children ++ call.filter)
      if (branch.inlined) all.map(Seq(_)) else Seq(all)
    })
    _.transform { case call: AggregateExpression => together.inputsOf(call) }
      .asInstanceOf[NamedExpression]
  }

  private def aggregate(
      results: Seq[NamedExpression],
      rows: LogicalPlan,
      read: AttributeSet,
      marks: Seq[Alias] = Nil): Aggregate = {
    val columns = rows.output.filter(read.contains) ++ Apart.of(marks.sortBy(_.name))
    val projected = if (columns == rows.output) rows else Project(columns, rows)
    Aggregate(Nil, results, projected)
  }

  /** For each filter a column that is true if a row passes it. */
  private def marksOf(branches: Seq[GlobalBranch]): Map[ExpressionSet, Alias] =
    branches
      .filter(_.conditions.nonEmpty)
      .distinctBy(_.filter)
      .zipWithIndex
      .map { case (branch, at) =>
        val mark = Alias(new BranchFilter(branch.conditions).exact, f"branch_${at + 1}%03d")()
        branch.filter -> mark
      }
      .toMap

  private def onlyOf(mark: Expression, result: NamedExpression): NamedExpression =
    result
      .transform { case call: AggregateExpression =>
        call.copy(
          aggregateFunction = guarded(mark, call.aggregateFunction),
          filter = Some(call.filter.fold(mark)(own => If(mark, own, Literal.FalseLiteral))))
      }
      .asInstanceOf[NamedExpression]

  private def guarded(mark: Expression, function: AggregateFunction): AggregateFunction =
    function.mapChildren(guard(mark, _)).asInstanceOf[AggregateFunction]

  private def guard(mark: Expression, argument: Expression): Expression = argument match {
    case order: SortOrder => order.mapChildren(guard(mark, _))
    case safe if safe.foldable || CannotFail(safe) => safe
    case other => If(mark, other, Literal(null, other.dataType))
  }
}
