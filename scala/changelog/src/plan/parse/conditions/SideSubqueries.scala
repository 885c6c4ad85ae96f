package io.firesteel.changelog.plan.parse.conditions

import io.firesteel.changelog.sql.InputTtl

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeSet, Expression, InSubquery, ListQuery, Not, PredicateHelper}
import org.apache.spark.sql.catalyst.optimizer.BooleanSimplification
import org.apache.spark.sql.catalyst.plans.{JoinType, LeftAnti, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LocalRelation, LogicalPlan, Project}

/**
 * Subqueries in the condition of an outer, semi or anti join, `a LEFT JOIN b ON a.k = b.k AND EXISTS
 * (SELECT ... WHERE x = b.x)`. Each is a column of the side that it is about, and the condition reads
 * the column.
 *
 * A part that Spark's optimizer takes out of the condition, into a filter of a side, is a column as a
 * whole: there `NOT IN` minds nulls. Elsewhere, as in Spark, it is the negation of `IN`, which is false
 * where it is unknown.
 */
private[changelog] object SideSubqueries extends PredicateHelper {

  /**
   * @param isAsked whether an expression is such a subquery
   * @param written the side with the columns, as a plan that can run; none if there is none
   */
  def apply(join: Join, isAsked: Expression => Boolean)(
      written: Project => Option[LogicalPlan]): Option[LogicalPlan] = {
    val columns = Seq.fill(2)(mutable.ArrayBuffer.empty[Alias])
    def columnOf(asking: Expression, side: Int): Expression = {
      val column = Alias(asking, "value")()
      columns(side) += column
      column.toAttribute
    }
    def isIn(part: Expression) = part match {
      case in: InSubquery => isAsked(in.query)
      case _ => false
    }
    def isOne(part: Expression) = part match {
      case _: ListQuery => false
      case in: InSubquery => isIn(in)
      // Spark evaluates what is about no column.
      case not: Not => not.references.isEmpty && not.child.exists(isIn)
      case other => isAsked(other)
    }
    val parts = simplified(join).filter(_.exists(isAsked)) match {
      case asking if !asking.forall(_.deterministic) => asking
      case asking =>
        asking.map { part =>
          sideOf(part, join).filter(isTakenOut(join.joinType, _)).fold {
            part.transformDown {
              case one if isOne(one) => sideOf(one, join).fold(one)(columnOf(one, _))
            }
          }(columnOf(part, _))
        }
    }
    val condition = simplified(join).filterNot(_.exists(isAsked)) ++ parts
    val sides = join.children.zip(columns).map { case (side, its) =>
      if (its.isEmpty) Some(side)
      else written(Project(side.output ++ its, side))
        .map(plan => InputTtl.of(side).fold(plan)(InputTtl(_, plan)))
    }
    sides.flatten match {
      case Seq(left, right) if !condition.exists(_.exists(isAsked)) =>
        val whole =
          join.copy(left = left, right = right, condition = condition.reduceOption(And(_, _)))
        Some(Project(join.output: Seq[Attribute], whole))
      case _ => None
    }
  }

  /** Source: `PushPredicateThroughJoin` of Spark, for conditions of joins. */
  private def isTakenOut(joinType: JoinType, side: Int): Boolean = joinType match {
    case LeftSemi => true
    case RightOuter => side == 0
    case LeftOuter | LeftAnti => side == 1
    case _ => false
  }

  /** The parts that must all hold. `NOT (a IN (...) OR b)` has a `NOT IN`. */
  private def simplified(join: Join): Seq[Expression] = join.condition.toSeq.flatMap { condition =>
    val rows = LocalRelation(join.children.flatMap(_.output), Nil, isStreaming = true)
    BooleanSimplification(Filter(condition, rows)).expressions.flatMap(splitConjunctivePredicates)
  }

  /** The side that has all columns of an expression; a subquery about neither is of a stream. */
  private def sideOf(asking: Expression, join: Join): Option[Int] = {
    val read = AttributeSet(asking.collect { case column: Attribute => column })
    val sides = join.children.zipWithIndex.filter(its => read.subsetOf(its._1.outputSet))
    sides.find(_._1.isStreaming).orElse(sides.headOption).map(_._2)
  }
}
