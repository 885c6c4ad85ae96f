package io.firesteel.changelog.plan.parse.conditions

import io.firesteel.changelog.sql.RowKindFunction

import org.apache.spark.sql.catalyst.expressions.{And, EqualNullSafe, EqualTo, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, JoinType, LeftAnti, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Filter, Join, LogicalPlan}

/**
 * Conditions above outer, semi and anti joins, where Spark's optimizer has them: a join whose padded
 * rows are dropped does not pad, and what reads the preserved side alone is checked below it. State
 * keeps fewer rows, and nothing is computed of rows that are excluded, which may fail.
 */
private[changelog] object WhereBelow extends PredicateHelper {

  /** @param isFree whether a condition may be evaluated once more */
  def apply(isFree: Expression => Boolean)(query: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      query.transformDown {
        case filter @ Filter(condition, join: Join) if join.isStreaming && join.resolved =>
          val all = splitConjunctivePredicates(condition)
          below(
            all,
            all.filter(c => isFree(c) && !RowKindFunction.isIn(c)),
            join).getOrElse(filter)
      }
    }

  private def below(
      all: Seq[Expression],
      plain: Seq[Expression],
      join: Join): Option[LogicalPlan] = {
    // It would be a key of an inner join, and the result's key may lack it.
    val joinType =
      if (all.exists(equalsBoth(join, _))) join.joinType else NarrowerJoins.of(join, plain)
    val own = preserved(joinType).fold(Seq.empty[Expression]) { side =>
      val columns = join.children(side).outputSet
      plain.filter(c => c.references.nonEmpty && c.references.subsetOf(columns))
    }
    Option.when(own.nonEmpty || joinType != join.joinType) {
      val sides = join.children.zipWithIndex.map { case (input, i) =>
        if (preserved(joinType).contains(i)) filtered(input, own) else input
      }
      val joined = join.copy(left = sides.head, right = sides.last, joinType = joinType)
      // The result's filters are in the checkpoint's record.
      filtered(joined, all)
    }
  }

  /** The place of the side that is preserved; none if both or neither are. */
  private def preserved(joinType: JoinType): Option[Int] = joinType match {
    case LeftOuter | LeftSemi | LeftAnti | _: ExistenceJoin => Some(0)
    case RightOuter => Some(1)
    case _ => None
  }

  private def equalsBoth(join: Join, condition: Expression): Boolean = {
    def isOf(value: Expression, side: LogicalPlan) =
      value.references.nonEmpty && value.references.subsetOf(side.outputSet)
    def both(a: Expression, b: Expression) =
      isOf(a, join.left) && isOf(b, join.right) || isOf(b, join.left) && isOf(a, join.right)
    condition match {
      case equal: EqualTo => both(equal.left, equal.right)
      case equal: EqualNullSafe => both(equal.left, equal.right)
      case _ => false
    }
  }

  private def filtered(input: LogicalPlan, conditions: Seq[Expression]): LogicalPlan =
    conditions.reduceOption(And(_, _)).fold(input)(Filter(_, input))
}
