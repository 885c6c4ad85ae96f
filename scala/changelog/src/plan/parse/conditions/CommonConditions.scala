package io.firesteel.changelog.plan.parse.conditions

import org.apache.spark.sql.catalyst.expressions.{And, EqualNullSafe, EqualTo, Expression, IsNull, Or, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Filter, Join, LogicalPlan}

/**
 * Conditions that all parts of an `OR` have in common, written once: `(a AND b) OR (a AND c)` as
 * `a AND (b OR c)`. An equality of two streams among them becomes a key of their join; without it
 * one task would compare all rows. Query 19 of TPC-H is such a query.
 *
 * Spark's optimizer does the same (`BooleanSimplification`), but sees a query after this room. Its
 * rule is not called here: it also simplifies other conditions, whose texts checkpoints have, and
 * differently in each version of Spark.
 */
private[changelog] object CommonConditions extends PredicateHelper {

  def apply(query: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      query.transformUp {
        case filter @ Filter(condition, _: Join) => filter.copy(condition = apart(condition))
        case join: Join => join.copy(condition = join.condition.map(apart))
      }
    }

  /**
   * `a = b OR (a IS NULL AND b IS NULL)` as `a <=> b`, which is a key of a join. Spark's optimizer
   * does it later (`OptimizeJoinCondition`).
   */
  def nullSafe(query: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      query.transformUp {
        case filter @ Filter(condition, _: Join) =>
          filter.copy(condition = withNullSafe(condition))
        case join: Join => join.copy(condition = join.condition.map(withNullSafe))
      }
    }

  private def withNullSafe(condition: Expression): Expression =
    splitConjunctivePredicates(condition).map {
      case Or(EqualTo(a, b), And(IsNull(c), IsNull(d))) if arePair(a, b, c, d) =>
        EqualNullSafe(a, b)
      case Or(And(IsNull(c), IsNull(d)), EqualTo(a, b)) if arePair(a, b, c, d) =>
        EqualNullSafe(a, b)
      case other => other
    }.reduce(And(_, _))

  private def arePair(a: Expression, b: Expression, c: Expression, d: Expression): Boolean =
    a.deterministic && b.deterministic &&
      (a.semanticEquals(c) && b.semanticEquals(d) || a.semanticEquals(d) && b.semanticEquals(c))

  private def apart(condition: Expression): Expression =
    splitConjunctivePredicates(condition).map {
      case either: Or if either.deterministic && !SubqueryExpression.hasSubquery(either) =>
        ofAll(either)
      case other => other
    }.reduce(And(_, _))

  private def ofAll(either: Or): Expression = {
    val parts = splitDisjunctivePredicates(either).map(splitConjunctivePredicates)
    def isIn(part: Seq[Expression])(condition: Expression) =
      part.exists(_.semanticEquals(condition))
    val common = parts.head.filter(condition => parts.tail.forall(isIn(_)(condition)))
    val left = parts.map(_.filterNot(isIn(common)(_)))
    if (common.isEmpty) either
    // What is left of one part is true.
    else if (left.exists(_.isEmpty)) common.reduce(And(_, _))
    else And(common.reduce(And(_, _)), left.map(_.reduce(And(_, _))).reduce(Or(_, _)))
  }
}
