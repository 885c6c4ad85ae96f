package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.{And, DynamicPruningSubquery, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.trees.TreePattern.DYNAMIC_PRUNING_SUBQUERY
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}

/**
 * Removes from a scan the dynamic partition pruning by a dimension that is looked up: Spark would
 * plan the dimension on its own for it, and the dimension cannot be scanned.
 *
 * It is a strategy, because Spark adds the pruning after all optimizer rules of an extension. It
 * matches projections and filters over a scan, which Spark plans together, so that every physical
 * node is linked to one of the query's nodes, as adaptive execution requires.
 */
private[firesteel] object UnpruneByLookup extends SparkStrategy with PredicateHelper {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case _: Project | _: Filter if plan.containsPattern(DYNAMIC_PRUNING_SUBQUERY) =>
      val unpruned = without(plan)
      if (unpruned.fastEquals(plan)) Nil else Seq(planLater(unpruned))
    case _ => Nil
  }

  private def without(plan: LogicalPlan): LogicalPlan = plan match {
    case project: Project => project.mapChildren(without)
    case filter @ Filter(condition, child) =>
      val (ours, others) = splitConjunctivePredicates(condition).partition(isPruningByLookup)
      if (ours.isEmpty) filter.mapChildren(without)
      else others.reduceOption(And(_, _)).fold(without(child))(Filter(_, without(child)))
    case scan => scan
  }

  private def isPruningByLookup(condition: Expression): Boolean = condition match {
    case pruning: DynamicPruningSubquery => LiftOffDimension.isDimension(pruning.buildQuery)
    case _ => false
  }
}
