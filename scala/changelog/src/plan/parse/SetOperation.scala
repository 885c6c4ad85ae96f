package io.firesteel.changelog.plan.parse

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, EqualNullSafe, Expression}
import org.apache.spark.sql.catalyst.optimizer.{RewriteExceptAll, RewriteIntersectAll}
import org.apache.spark.sql.catalyst.plans.{JoinType, LeftAnti, LeftSemi}
import org.apache.spark.sql.catalyst.plans.logical.{Distinct, Except, Intersect, Join, JoinHint, LogicalPlan}

/**
 * `INTERSECT` and `EXCEPT` as semi and anti joins; with `ALL` as counts of both sides. Spark's
 * optimizer writes them the same way, but sees a query after this room.
 */
private[parse] object SetOperation {

  def unapply(plan: LogicalPlan): Option[LogicalPlan] = plan match {
    case intersect: Intersect if intersect.isAll => Some(RewriteIntersectAll(intersect))
    case except: Except if except.isAll => Some(RewriteExceptAll(except))
    case intersect: Intersect => Some(distinct(intersect.left, intersect.right, LeftSemi))
    case except: Except => Some(distinct(except.left, except.right, LeftAnti))
    case _ => None
  }

  private def distinct(left: LogicalPlan, right: LogicalPlan, joinType: JoinType): LogicalPlan = {
    val equal = left.output.zip(right.output).map { case (l: Attribute, r: Attribute) =>
      EqualNullSafe(l, r): Expression
    }
    Distinct(Join(left, right, joinType, equal.reduceOption(And(_, _)), JoinHint.NONE))
  }
}
