package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeSet, Expression, PredicateHelper, PythonUDF, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, InnerLike, JoinType, LeftAnti, LeftOuter, LeftSemi}
import org.apache.spark.sql.catalyst.plans.logical.{BaseEvalPython, Filter, Join, LocalLimit, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreePattern

/**
 * Moves above a lookup join those operators that Spark has pushed onto the dimension and that a
 * store cannot run: joins that come from `IN`, `EXISTS` and scalar subqueries about its columns, or
 * from the query itself, and Python functions, which Spark computes in operators of their own.
 * Spark pushes conditions with Python functions down again; `LiftedLookup` handles these later.
 * Conditions on the keys alone move to the other side (`KeyConditions`).
 *
 * {{{
 *   Join (o.customer_id = c.id)             LeftSemi (c.country = s.country)
 *   :- o                                =>  :- Join (o.customer_id = c.id)
 *   +- LeftSemi (c.country = s.country)     :  :- o
 *      :- LookupRelation c                  :  +- LookupRelation c
 *      +- s                                 +- s
 * }}}
 *
 * The two plans are equal for an inner join only. The rule runs after Spark's rules that push down,
 * and before the rule that turns the remaining subqueries into joins.
 */
private[firesteel] object LiftOffDimension extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    plan.transformUpWithPruning(_.containsPattern(TreePattern.JOIN)) {
      case join: Join if isLookup(join) && isBurdened(join.right) =>
        val relieved = KeyConditions.moved(join)
        if (isInner(relieved) && isBurdened(relieved.right)) lifted(relieved) else relieved
    }

  private def isLookup(join: Join): Boolean = join.joinType == LeftOuter || isInner(join)

  private def isInner(join: Join): Boolean = join.joinType.isInstanceOf[InnerLike]

  /** Whether `plan` is a dimension under operators that a store cannot run. */
  private[lookup] def isBurdened(plan: LogicalPlan): Boolean =
    isDimension(plan) && path(plan).exists {
      case Filter(condition, _) => isBurden(condition)
      case Project(columns, _) => columns.exists(isBurden)
      case _: Join | _: BaseEvalPython => true
      case _ => false
    }

  private[lookup] def isBurden(expression: Expression): Boolean =
    SubqueryExpression.hasSubquery(expression) || expression.exists(_.isInstanceOf[PythonUDF])

  /** The nodes from `plan` down to its dimension. */
  private[lookup] def path(plan: LogicalPlan): Seq[LogicalPlan] = plan match {
    case Project(_, child) => plan +: path(child)
    case Filter(_, child) => plan +: path(child)
    case LocalLimit(_, child) => plan +: path(child)
    case python: BaseEvalPython => plan +: path(python.child)
    case join: Join if isLiftable(join) => plan +: path(join.left)
    case _ => Seq(plan)
  }

  /** Whether `plan` ends in a dimension, under any operators. */
  private[lookup] def isDimension(plan: LogicalPlan): Boolean = plan match {
    case _: LookupRelation | _: LookupTable => true
    case Project(columns, child) => columns.forall(_.deterministic) && isDimension(child)
    case Filter(condition, child) => condition.deterministic && isDimension(child)
    case LocalLimit(_, child) => isDimension(child) // see DimensionChain
    case python: BaseEvalPython => python.udfs.forall(_.deterministic) && isDimension(python.child)
    case join: Join => isLiftable(join)
    case _ => false
  }

  private def isLiftable(join: Join): Boolean =
    isLiftable(join.joinType) && isDimension(join.left)

  private def isLiftable(joinType: JoinType): Boolean = joinType match {
    case LeftSemi | LeftAnti | LeftOuter | _: ExistenceJoin | _: InnerLike => true
    case _ => false
  }

  private[lookup] def lifted(join: Join): LogicalPlan = {
    val nodes = path(join.right)
    // Lift all from the lowest such operator upwards; filters below it remain for the store.
    val keep = nodes.reverse.takeWhile {
      case Filter(condition, _) => !isBurden(condition)
      case Project(columns, _) => !columns.exists(isBurden)
      case _: Join | _: BaseEvalPython => false
      case _ => true
    }.last
    val inlined = inlining(nodes, keep.outputSet)
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

  /** Rewrites expressions over columns that none of `nodes` computes, or over `known` columns. */
  private[lookup] def inlining(
      nodes: Seq[LogicalPlan],
      known: AttributeSet): Expression => Expression = {
    val computed = nodes.collect { case Project(columns, _) =>
      columns.collect { case alias: Alias => alias.exprId -> alias }
    }.flatten.filterNot { case (_, alias) => known.contains(alias.toAttribute) }.toMap
    def inlined(expression: Expression): Expression = expression.transformUp {
      case attribute: Attribute if computed.contains(attribute.exprId) =>
        inlined(computed(attribute.exprId).child)
    }
    inlined
  }

  /** `plan` with `lookup` instead of `keep`, passing through the columns of its left side. */
  private def rebuild(plan: LogicalPlan, keep: LogicalPlan, lookup: Join): LogicalPlan =
    plan match {
      case _ if plan eq keep => lookup
      case Project(columns, child) =>
        Project(lookup.left.output ++ columns, rebuild(child, keep, lookup))
      case filter: Filter => filter.copy(child = rebuild(filter.child, keep, lookup))
      // Above the join the limit would apply to other rows than below it.
      case LocalLimit(_, child) => rebuild(child, keep, lookup)
      case python: BaseEvalPython =>
        python.withNewChildren(Seq(rebuild(python.child, keep, lookup)))
      case join: Join => join.copy(left = rebuild(join.left, keep, lookup))
      case other => throw new IllegalStateException(s"not on the way to a dimension: $other")
    }
}
