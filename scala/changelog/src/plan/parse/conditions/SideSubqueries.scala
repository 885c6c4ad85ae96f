package io.firesteel.changelog.plan.parse.conditions

import io.firesteel.changelog.common.SimpleConditions

import io.firesteel.changelog.sql.InputHint

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeSet, Expression, InSubquery, ListQuery, Not, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.{JoinType, LeftAnti, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LocalRelation, LogicalPlan, Project}

/**
 * Writes subqueries in the condition of an outer, semi or anti join as columns of the side that
 * they are about, `a LEFT JOIN b ON a.k = b.k AND EXISTS (SELECT ... WHERE x = b.x)`.
 *
 * Spark's optimizer takes some parts out of the condition, into a filter of a side. Such a part is
 * a column as a whole, so that `NOT IN` minds nulls. Elsewhere `NOT IN` is the negation of `IN`,
 * which is false where it is unknown, as in Spark.
 */
private[changelog] object SideSubqueries extends PredicateHelper {

  /**
   * @param isAsked whether an expression is such a subquery
   * @param written the side with the columns, as a plan that can run; none if there is none
   */
  def apply(join: Join, isAsked: Expression => Boolean)(
      written: Project => Option[LogicalPlan]): Option[LogicalPlan] = {
    val (asking, others) = partsOf(join).partition(_.exists(isAsked))
    val columns = Seq.fill(2)(mutable.ArrayBuffer.empty[Alias])
    val condition = others ++ asking.map(read(_, join, isAsked) { (value, side) =>
      val column = Alias(value, "value")()
      columns(side) += column
      column.toAttribute
    })
    val sides = join.children.zip(columns).map { case (side, its) =>
      if (its.isEmpty) Some(side)
      else written(Project(side.output ++ its, side))
        .map(plan => InputHint.over(side, plan))
    }
    sides.flatten match {
      case Seq(left, right) if !condition.exists(_.exists(isAsked)) =>
        val whole =
          join.copy(left = left, right = right, condition = condition.reduceOption(And(_, _)))
        Some(Project(join.output: Seq[Attribute], whole))
      case _ => None
    }
  }

  /** The parts that must all hold. `NOT (a IN (...) OR b)` has a `NOT IN`. */
  private def partsOf(join: Join): Seq[Expression] = join.condition.toSeq.flatMap { condition =>
    val rows = LocalRelation(join.children.flatMap(_.output), Nil, isStreaming = true)
    SimpleConditions.in(Filter(condition, rows)).expressions.flatMap(splitConjunctivePredicates)
  }

  /** A part with its subqueries, or the whole of it, as columns of a side. */
  private def read(part: Expression, join: Join, isAsked: Expression => Boolean)(
      column: (Expression, Int) => Expression): Expression =
    if (!part.deterministic) part
    else sideOf(part, join).filter(isTakenOut(join.joinType, _)).fold {
      part.transformDown {
        case value if isValue(value, isAsked) => sideOf(value, join).fold(value)(column(value, _))
      }
    }(column(part, _))

  private def isValue(part: Expression, isAsked: Expression => Boolean): Boolean = part match {
    case _: ListQuery => false // the rows of `IN` are no value
    case in: InSubquery => isAsked(in.query)
    // Spark evaluates what is about no column.
    case not: Not => not.references.isEmpty && not.child.isInstanceOf[InSubquery] &&
      isValue(not.child, isAsked)
    case other => isAsked(other)
  }

  /** Source: `PushPredicateThroughJoin` of Spark, for conditions of joins. */
  private def isTakenOut(joinType: JoinType, side: Int): Boolean = joinType match {
    case LeftSemi => true
    case RightOuter => side == 0
    case LeftOuter | LeftAnti => side == 1
    case _ => false
  }

  /** The side that has all columns of an expression; a subquery about neither is of a stream. */
  private def sideOf(asking: Expression, join: Join): Option[Int] = {
    val read = AttributeSet(asking.collect { case column: Attribute => column })
    val sides = join.children.zipWithIndex.filter(its => read.subsetOf(its._1.outputSet))
    sides.find(_._1.isStreaming).orElse(sides.headOption).map(_._2)
  }
}
