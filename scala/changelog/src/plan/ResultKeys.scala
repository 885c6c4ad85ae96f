package io.firesteel.changelog.plan

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LogicalPlan, Project, SubqueryAlias, View, Window}

/**
 * The upsert keys that a sink may use. Beside those of inference there are the keys of groups
 * without the constants among them. Inference itself keeps constants: other operators choose their
 * state by upsert keys, and a checkpoint must not see another choice.
 */
private[changelog] object ResultKeys {

  def apply(result: ChangelogOperator): Set[Set[ExprId]] =
    result.facts.upsertKeys ++ (result match {
      case Projection(columns, input) => ColumnFacts.mapKeys(columns, apply(input))
      case Selection(_, input) => apply(input)
      case groups: GroupAggregate =>
        val constants =
          groups.keys.filter(isConstant(_, groups.input)).map(_.exprId).toSet
        groups.facts.upsertKeys.map(_ -- constants)
      case windows: ClosedWindows => ofClosed(windows.plan, windows.inputs)
      case _ => Set.empty
    })

  /** A closed window has all of its rows in one micro-batch, so groups of it come once. */
  private def ofClosed(plan: LogicalPlan, inputs: Seq[ChangelogOperator]): Set[Set[ExprId]] =
    plan match {
      case Project(columns, below) => ColumnFacts.mapKeys(columns, ofClosed(below, inputs))
      case _: Filter | _: SubqueryAlias | _: View | _: Window =>
        ofClosed(plan.children.head, inputs)
      case groups: Aggregate =>
        val keys = groups.groupingExpressions.collect { case key: Attribute => key.exprId }
        if (keys.size < groups.groupingExpressions.size) Set.empty
        else ColumnFacts.mapKeys(groups.aggregateExpressions, Set(keys.toSet))
      case leaf: WindowedInput =>
        val columns = leaf.of.zip(leaf.output).map { case (from, to) =>
          Alias(from, to.name)(to.exprId)
        }
        ColumnFacts.mapKeys(columns, apply(inputs(leaf.number)))
      case _ => Set.empty
    }

  /**
   * Whether a projection gives the column the same value in all rows. The current time is not the
   * same in all micro-batches.
   */
  @tailrec
  private def isConstant(column: Attribute, in: ChangelogOperator): Boolean = in match {
    case Source(plan) => isConstant(column, plan)
    case Projection(columns, input) =>
      columns.find(_.exprId == column.exprId) match {
        case Some(alias: Alias) => alias.child.isInstanceOf[Literal]
        case _ => isConstant(column, input)
      }
    case Selection(_, input) => isConstant(column, input)
    case _ => false
  }

  @tailrec
  private def isConstant(column: Attribute, in: LogicalPlan): Boolean = in match {
    case Project(columns, input) =>
      columns.find(_.exprId == column.exprId) match {
        case Some(alias: Alias) => alias.child.isInstanceOf[Literal]
        case _ => isConstant(column, input)
      }
    case _: SubqueryAlias | _: View | _: Filter => isConstant(column, in.children.head)
    case _ => false
  }
}
