package io.firesteel.shuffle

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression, NamedExpression, SortOrder}
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.window.WindowExecBase

/**
 * Whether the rows of each task have an order, also where Spark's `outputOrdering` does not report
 * it:
 *
 *  - columns with different names have the same values (`SELECT a, a AS b`): the order of one is
 *    the order of the other;
 *  - the ranks within `PARTITION BY k ORDER BY v` are in the order of k and the rank
 *    ([[RankColumn]]).
 *
 * Names are traced to the columns that they stand for, and no further. Spark considers `(a + b) +
 * c` equal to `a + (b + c)`, which is wrong for floats; and expressions over computed columns grow
 * with each step.
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

  /** The operator keeps the order of its input. */
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

  /** Repeated columns add nothing to an order. */
  private def withoutRepeats(plan: SparkPlan, order: Seq[SortOrder]): Seq[SortOrder] =
    order.foldLeft(Seq.empty[SortOrder]) { (before, next) =>
      if (before.exists(known => areSame(plan, known.child, next.child))) before
      else before :+ next
    }

  /**
   * `None` if a wanted column is computed here. Exception: expressions that [[RankColumn]]
   * understands.
   */
  private def inTermsOfInput(
      outputs: Seq[NamedExpression],
      wanted: Seq[SortOrder]): Option[Seq[SortOrder]] = {
    val meaning = meaningOf(outputs)
    def isNamed(column: Attribute) =
      meaning.get(column).forall(m => m.isInstanceOf[Attribute] || RankColumn.mayBeRank(m))
    if (wanted.forall(_.references.forall(isNamed)))
      Some(wanted.map { order =>
        // Bottom-up: the replacement of a column may contain columns of the same names.
        val child = order.child.transformUp { case column: Attribute =>
          meaning.getOrElse(column, column)
        }
        SortOrder(child, order.direction, order.nullOrdering, Nil)
      })
    else None
  }

  /**
   * The column that a name stands for, with its node: another node may have a column of the same
   * name.
   */
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
