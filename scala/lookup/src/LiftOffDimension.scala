package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, Expression, PredicateHelper, PythonUDF, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, InnerLike, JoinType, LeftAnti, LeftOuter, LeftSemi}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LocalLimit, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern

/**
 * Puts back above a lookup join what Spark has pushed below it onto the dimension and a store
 * cannot do: joins that come of `IN`, `EXISTS` and scalar subqueries about its columns, or that the
 * query itself has there, and columns that functions in Python compute, in an operator of their own.
 * (A condition with such a function Spark would push down again.)
 *
 * {{{
 *   Join (o.customer_id = c.id)             LeftSemi (c.country = s.country)
 *   :- o                                =>  :- Join (o.customer_id = c.id)
 *   +- LeftSemi (c.country = s.country)     :  :- o
 *      :- LookupRelation c                  :  +- LookupRelation c
 *      +- s                                 +- s
 * }}}
 *
 * Both say the same for an inner join only. Runs after Spark's rules that push down, before the
 * one that makes joins of those subqueries that are still conditions.
 */
private[firesteel] object LiftOffDimension extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(TreePattern.JOIN)) {
      case join @ Join(_, right, _: InnerLike, _, _) if isBurdened(right) => lifted(join)
    }

  /** Whether `plan` is a dimension with something upon it that no store can be asked for. */
  private def isBurdened(plan: LogicalPlan): Boolean =
    isDimension(plan) && path(plan).exists {
      case Filter(condition, _) => isBurden(condition)
      case Project(columns, _) => columns.exists(isBurden)
      case _: Join => true
      case _ => false
    }

  private def isBurden(expression: Expression): Boolean =
    SubqueryExpression.hasSubquery(expression) || expression.exists(_.isInstanceOf[PythonUDF])

  /** The nodes from `plan` down to its dimension. */
  private def path(plan: LogicalPlan): Seq[LogicalPlan] = plan match {
    case Project(_, child) => plan +: path(child)
    case Filter(_, child) => plan +: path(child)
    case LocalLimit(_, child) => plan +: path(child)
    case Join(left, _, joinType, _, _) if isLiftable(joinType) && isDimension(left) =>
      plan +: path(left)
    case _ => Seq(plan)
  }

  private def isDimension(plan: LogicalPlan): Boolean = plan match {
    case _: LookupRelation | _: LookupTable => true
    case Project(columns, child) => columns.forall(_.deterministic) && isDimension(child)
    case Filter(condition, child) => condition.deterministic && isDimension(child)
    case LocalLimit(_, child) => isDimension(child) // of a limit above the join: see DimensionChain
    case Join(left, _, joinType, _, _) => isLiftable(joinType) && isDimension(left)
    case _ => false
  }

  private def isLiftable(joinType: JoinType): Boolean = joinType match {
    case LeftSemi | LeftAnti | LeftOuter | _: ExistenceJoin | _: InnerLike => true
    case _ => false
  }

  private def lifted(join: Join): LogicalPlan = {
    val nodes = path(join.right)
    // Everything above the lowest burden is lifted; filters below it stay the store's.
    val keep = nodes.reverse.takeWhile {
      case Filter(condition, _) => !isBurden(condition)
      case Project(columns, _) => !columns.exists(isBurden)
      case _: Join => false
      case _ => true
    }.last
    val computed = nodes.collect { case Project(columns, _) =>
      columns.collect { case alias: Alias => alias.exprId -> alias }
    }.flatten.filterNot { case (_, alias) => keep.outputSet.contains(alias.toAttribute) }.toMap
    def inlined(expression: Expression): Expression = expression.transformUp {
      case attribute: Attribute if computed.contains(attribute.exprId) =>
        inlined(computed(attribute.exprId).child)
    }
    val known = join.left.outputSet ++ keep.outputSet
    val (below, above) = join.condition.toSeq
      .flatMap(splitConjunctivePredicates)
      .partition { part =>
        val asked = inlined(part)
        asked.references.subsetOf(known) && !isBurden(asked)
      }
    val lookup =
      join.copy(right = keep, condition = below.map(inlined).reduceOption(And(_, _)))
    val rebuilt = rebuild(join.right, keep, lookup)
    val tested = above.reduceOption(And(_, _)).fold(rebuilt)(Filter(_, rebuilt))
    if (tested.output == join.output) tested else Project(join.output, tested)
  }

  /** `plan` with `lookup` in the place of `keep`, and the columns of its left side handed up. */
  private def rebuild(plan: LogicalPlan, keep: LogicalPlan, lookup: Join): LogicalPlan =
    plan match {
      case _ if plan eq keep => lookup
      case Project(columns, child) =>
        Project(lookup.left.output ++ columns, rebuild(child, keep, lookup))
      case filter: Filter => filter.copy(child = rebuild(filter.child, keep, lookup))
      // Above the join it would bound other rows than it did below.
      case LocalLimit(_, child) => rebuild(child, keep, lookup)
      case join: Join => join.copy(left = rebuild(join.left, keep, lookup))
      case other => throw new IllegalStateException(s"not on the way to a dimension: $other")
    }
}
