package io.firesteel.lookup

import org.apache.spark.sql.catalyst.plans.InnerLike
import org.apache.spark.sql.catalyst.plans.logical.{ArrowEvalPython, BatchEvalPython, Filter, Join, LogicalPlan, Project}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SparkPlan}
import org.apache.spark.sql.execution.python.{ArrowEvalPythonExec, BatchEvalPythonExec}

/**
 * A lookup, and the operators above it that Spark had placed between the join and its dimension.
 *
 * {{{
 *   Join (t.v = d.id)                                Filter (u > 9)
 *   :- t                                             +- BatchEvalPython [pyudf(d.name)] AS u
 *   +- Filter (u > 9)                           =>      +- LookupJoin (t.v = d.id)
 *      +- BatchEvalPython [pyudf(d.name)] AS u             +- t
 *         +- LookupRelation d
 * }}}
 *
 * Spark places Python functions there after the last rule that an extension can add, so the planner
 * handles them.
 *
 * @param subject the join of the query
 * @param whole the query of the lookup and the operators above it
 */
private[firesteel] final case class LiftedLookup(
    subject: Join,
    query: LookupQuery,
    whole: LogicalPlan) {

  /**
   * The operators above the lookup. Spark's planner would link them and the exchanges below to
   * nodes outside of the query, where adaptive execution looks for them; so they are made here.
   */
  def upon(lookup: SparkPlan): SparkPlan = planned(whole, lookup)

  private def planned(plan: LogicalPlan, lookup: SparkPlan): SparkPlan = plan match {
    case join: Join if join eq query.join => lookup
    case Project(columns, child) => ProjectExec(columns, planned(child, lookup))
    case Filter(condition, child) => FilterExec(condition, planned(child, lookup))
    case python: BatchEvalPython =>
      BatchEvalPythonExec(python.udfs, python.resultAttrs, planned(python.child, lookup))
    case python: ArrowEvalPython =>
      val below = planned(python.child, lookup)
      ArrowEvalPythonExec(python.udfs, python.resultAttrs, below, python.evalType)
    case other => throw new IllegalStateException(s"not above a lookup: $other")
  }
}

private[lookup] object LiftedLookup {

  def of(plan: LogicalPlan): Option[LiftedLookup] = plan match {
    case join: Join =>
      LookupQuery.unapply(join).map(LiftedLookup(join, _, join)).orElse {
        for {
          whole <- lifted(join)
          below <- whole.collectFirst { case lookup: Join => lookup }
          query <- LookupQuery.unapply(below)
        } yield LiftedLookup(join, query, whole)
      }
    case _ => None
  }

  private def lifted(join: Join): Option[LogicalPlan] =
    Some(join).filter { join =>
      join.joinType.isInstanceOf[InnerLike] && LiftOffDimension.isBurdened(join.right) &&
      !LiftOffDimension.path(join.right).exists(_.isInstanceOf[Join])
    }.map(LiftOffDimension.lifted)
}
