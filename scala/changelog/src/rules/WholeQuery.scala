package io.firesteel.changelog.rules

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.parse.{OrderedJoins, Repeatable, SpreadNotIn}
import io.firesteel.changelog.plan.parse.conditions.{CommonConditions, ImpliedConditions, ViewColumns, WhereBelow}
import io.firesteel.changelog.sql.Arrival
import io.firesteel.changelog.state.PlanVersion

import scala.annotation.tailrec
import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, EliminatePipeOperators, ExprId, ScalarSubquery}
import org.apache.spark.sql.catalyst.optimizer.{EliminateSQLFunctionNode, InlineCTE, OptimizeOneRowRelationSubquery}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, CTERelationRef, LogicalPlan, OneRowRelation, WithCTE}
import org.apache.spark.sql.catalyst.trees.TreePattern.CURRENT_LIKE

/** A query with all that it reads in one plan, as its checkpoint began to read it. */
private[rules] object WholeQuery {

  /**
   * A statement's query. Its conditions stay above joins, which other statements may have too.
   *
   * @param version see [[PlanVersion]]
   */
  def apply(version: Int, query: LogicalPlan): LogicalPlan = {
    requireOneAnswer(query)
    asBegun(version, inlined(query), isAlone = false)
  }

  /** A checkpoint keeps the operators that it began with. */
  def asBegun(version: Int, query: LogicalPlan, isAlone: Boolean = true): LogicalPlan = {
    val rewrites = Seq[(Int, LogicalPlan => LogicalPlan)](
      PlanVersion.marks -> withoutMarks,
      PlanVersion.viewColumns -> ViewColumns.passedOn,
      PlanVersion.rowSubqueries -> valuesOfRows,
      PlanVersion.commonConditions -> CommonConditions.apply,
      PlanVersion.nullSafeKeys -> CommonConditions.nullSafe,
      PlanVersion.whereBelow ->
        (if (isAlone) WhereBelow(Repeatable.isFree(_, version)) else identity),
      PlanVersion.impliedConditions ->
        (if (isAlone) ImpliedConditions(Repeatable.isFree(_, version), OrderedJoins.isOfVersion)
         else identity),
      PlanVersion.orderedTables -> OrderedJoins.ofTables,
      PlanVersion.spreadNotIn -> SpreadNotIn(losesKeys = version < PlanVersion.notInKeepsKeys)
    )
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      rewrites.filter(_._1 <= version).foldLeft(query) { case (plan, (_, rewrite)) =>
        rewrite(plan)
      }
    }
  }

  /** Writes common table expressions into the places that read them, also those of a view. */
  def inlined(query: LogicalPlan): LogicalPlan = InlineCTE(alwaysInline = true).apply(query)

  /** Marks of pipes and of functions in SQL, which Spark's optimizer takes away. */
  def withoutMarks(query: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      EliminateSQLFunctionNode(EliminatePipeOperators(query))
    }

  /** A value such as `(SELECT uuid())` is one for all rows, and stays a subquery. */
  private def valuesOfRows(query: LogicalPlan): LogicalPlan = {
    val kept = mutable.Map.empty[ExprId, ScalarSubquery]
    val others = query.transformAllExpressions {
      case value: ScalarSubquery if value.plan.collectLeaves().forall(isOneRow) && varies(value) =>
        val place = AttributeReference("value", value.dataType, value.nullable)()
        kept(place.exprId) = value
        place
    }
    if (kept.isEmpty) OptimizeOneRowRelationSubquery(query)
    else OptimizeOneRowRelationSubquery(others).transformAllExpressions {
      case place: AttributeReference if kept.contains(place.exprId) => kept(place.exprId)
    }
  }

  private def isOneRow(leaf: LogicalPlan): Boolean = leaf.isInstanceOf[OneRowRelation]

  private def varies(value: ScalarSubquery): Boolean =
    !value.plan.deterministic || value.plan.containsPattern(CURRENT_LIKE)

  /**
   * An inlined common table expression is computed in each place, so it must give the same rows in
   * each.
   */
  def requireOneAnswer(query: LogicalPlan): Unit = {
    def read(plan: LogicalPlan) =
      plan.collectWithSubqueries { case reading: CTERelationRef => reading.cteId }
    val definitions =
      query.collectWithSubqueries { case WithCTE(_, definitions) => definitions }.flatten
    // If A is read twice and reads B, then B is read twice, too.
    @tailrec
    def closure(ids: Set[Long]): Set[Long] = {
      val more = ids ++ definitions.filter(d => ids(d.id)).flatMap(d => read(d.child))
      if (more == ids) ids else closure(more)
    }
    val all = read(query)
    val twice = closure(all.filter(id => all.count(_ == id) > 1).toSet)
    definitions.filter(definition => twice(definition.id))
      .flatMap(_.child.collectWithSubqueries { case node =>
        node.expressions.find(Arrival.differsOtherwise)
      }.flatten)
      .foreach(varying => throw ChangelogErrors.notRepeatable("WITH", varying.sql))
  }
}
