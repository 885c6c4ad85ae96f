package io.firesteel.changelog.plan.parse.conditions

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan, Project}

/**
 * Subqueries in the condition of an outer, semi or anti join, `a LEFT JOIN b ON a.k = b.k AND EXISTS
 * (SELECT ... WHERE x = b.x)`. Each is a column of the side that it is about, and the condition reads
 * the column.
 */
private[changelog] object SideSubqueries {

  /**
   * @param isAsked whether an expression is such a subquery
   * @param written the side with the columns, as a plan that can run; none if there is none
   */
  def apply(join: Join, isAsked: Expression => Boolean)(
      written: Project => Option[LogicalPlan]): Option[LogicalPlan] = {
    val columns = Seq.fill(2)(mutable.ArrayBuffer.empty[Alias])
    val condition = join.condition.map(_.transformDown {
      case asking if asking.exists(isAsked) && asking.deterministic =>
        sideOf(asking, join).fold(asking) { side =>
          val column = Alias(asking, "value")()
          columns(side) += column
          column.toAttribute
        }
    })
    val sides = join.children.zip(columns).map { case (side, its) =>
      if (its.isEmpty) Some(side) else written(Project(side.output ++ its, side))
    }
    sides.flatten match {
      case Seq(left, right) if !condition.exists(_.exists(isAsked)) =>
        val whole = join.copy(left = left, right = right, condition = condition)
        Some(Project(join.output: Seq[Attribute], whole))
      case _ => None
    }
  }

  /** The side that has all columns of an expression; a subquery about neither is of a stream. */
  private def sideOf(asking: Expression, join: Join): Option[Int] = {
    val read = AttributeSet(asking.collect { case column: Attribute => column })
    val sides = join.children.zipWithIndex.filter(its => read.subsetOf(its._1.outputSet))
    sides.find(_._1.isStreaming).orElse(sides.headOption).map(_._2)
  }
}
