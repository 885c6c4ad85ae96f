package io.firesteel.shuffle

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression, NamedExpression, SortOrder}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.window.WindowExecBase

/**
 * Whether the rows of each task come in an order, also where Spark's `outputOrdering` does not say so:
 *
 *  - columns with different names have the same values (`SELECT a, a AS b`), so that the order of one is
 *    that of the other;
 *  - what ranks number within `PARTITION BY k ORDER BY v` comes in the order of k and the rank, too
 *    ([[RankColumn]]).
 *
 * Names are followed to the columns for which they stand, and no further: Spark takes `(a + b) + c` for
 * `a + (b + c)`, which of floats it is not; and what is computed of computed columns grows with each step.
 */
private[shuffle] object KnownOrder {

  def isOf(plan: SparkPlan, order: Seq[SortOrder]): Boolean =
    isKnown(plan, withoutRepeats(plan, order))

  /** Whether two expressions over the output of `plan` have the same value in each of its rows. */
  def areSame(plan: SparkPlan, one: Expression, other: Expression): Boolean =
    one.semanticEquals(other) || ((one, other) match {
      case (a: Attribute, b: Attribute) =>
        val ((nodeOfA, columnOfA), (nodeOfB, columnOfB)) = (origin(plan, a), origin(plan, b))
        (nodeOfA eq nodeOfB) && columnOfA.exprId == columnOfB.exprId
      case _ => false
    })

  private def isKnown(plan: SparkPlan, wanted: Seq[SortOrder]): Boolean =
    isSaid(plan, wanted) || (plan match {
      case project: ProjectExec =>
        inTermsOfInput(project.projectList, wanted).exists(isKnown(project.child, _))
      case window: WindowExecBase =>
        RankColumn.isInOrder(window, wanted)(isKnown(window.child, _)) ||
        isOfInput(window, wanted)
      case _: FilterExec | _: PassesRows => isOfInput(plan, wanted)
      case _ => false
    })

  /** Rows are handed on as they come. */
  private def isOfInput(plan: SparkPlan, order: Seq[SortOrder]): Boolean = {
    val input = plan.children.head
    order.forall(_.references.subsetOf(input.outputSet)) && isKnown(input, order)
  }

  private def isSaid(plan: SparkPlan, order: Seq[SortOrder]): Boolean = {
    val said = plan.outputOrdering
    order.size <= said.size && said.zip(order).forall { case (known, wanted) =>
      known.direction == wanted.direction && known.nullOrdering == wanted.nullOrdering &&
      known.children.exists(areSame(plan, _, wanted.child))
    }
  }

  /** Rows that are equal in a column are so once more. */
  private def withoutRepeats(plan: SparkPlan, order: Seq[SortOrder]): Seq[SortOrder] =
    order.foldLeft(Seq.empty[SortOrder]) { (before, next) =>
      if (before.exists(known => areSame(plan, known.child, next.child))) before
      else before :+ next
    }

  /** `None` where what is wanted is computed here, but for what [[RankColumn]] sees through. */
  private def inTermsOfInput(
      outputs: Seq[NamedExpression],
      wanted: Seq[SortOrder]): Option[Seq[SortOrder]] = {
    val meaning = meaningOf(outputs)
    def isNamed(column: Attribute) =
      meaning.get(column).forall(m => m.isInstanceOf[Attribute] || RankColumn.mayBeRank(m))
    if (wanted.forall(_.references.forall(isNamed)))
      Some(wanted.map { order =>
        // From below: what stands for a column may have columns of the same names.
        val child = order.child.transformUp { case column: Attribute =>
          meaning.getOrElse(column, column)
        }
        SortOrder(child, order.direction, order.nullOrdering, Nil)
      })
    else None
  }

  /** The column for which a name stands, and of which node: another may have one of the same name. */
  @tailrec
  private def origin(plan: SparkPlan, column: Attribute): (SparkPlan, Attribute) = plan match {
    case project: ProjectExec =>
      meaningOf(project.projectList).getOrElse(column, column) match {
        case below: Attribute => origin(project.child, below)
        case _ => (plan, column)
      }
    case aggregate: BaseAggregateExec =>
      meaningOf(aggregate.resultExpressions).getOrElse(column, column) match {
        case below: Attribute => (aggregate.child, below)
        case _ => (plan, column)
      }
    case _: FilterExec | _: PassesRows | _: SortExec | _: WindowExecBase
        if plan.children.head.outputSet.contains(column) =>
      origin(plan.children.head, column)
    case _ => (plan, column)
  }

  private def meaningOf(outputs: Seq[NamedExpression]): AttributeMap[Expression] =
    AttributeMap(outputs.collect { case alias: Alias => alias.toAttribute -> alias.child })
}
