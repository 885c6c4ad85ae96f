package io.firesteel.shuffle

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
 */
private[shuffle] object KnownOrder {

  def isOf(plan: SparkPlan, order: Seq[SortOrder]): Boolean = {
    val wanted = withoutRepeats(plan, order)
    isSaid(plan, wanted) || (plan match {
      case project: ProjectExec =>
        val meaning = meaningOf(project.projectList)
        isOf(project.child, wanted.map(_.mapChild(renamed(_, meaning))))
      case window: WindowExecBase =>
        RankColumn.isInOrder(window, wanted)(isOf(window.child, _)) || isOfInput(window, wanted)
      case _: FilterExec | _: PassesRows => isOfInput(plan, wanted)
      case _ => false
    })
  }

  /** Whether two expressions over the output of `plan` have the same value in each of its rows. */
  def areSame(plan: SparkPlan, one: Expression, other: Expression): Boolean =
    one.semanticEquals(other) || origin(plan, one).semanticEquals(origin(plan, other))

  /** Rows are handed on as they come. */
  private def isOfInput(plan: SparkPlan, order: Seq[SortOrder]): Boolean = {
    val input = plan.children.head
    order.forall(_.references.subsetOf(input.outputSet)) && isOf(input, order)
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

  /** What an expression is made of, below the names that projections and aggregates have given it. */
  private def origin(plan: SparkPlan, expression: Expression): Expression = plan match {
    case project: ProjectExec =>
      origin(project.child, renamed(expression, meaningOf(project.projectList)))
    case aggregate: BaseAggregateExec =>
      renamed(expression, meaningOf(aggregate.resultExpressions))
    case _: FilterExec | _: PassesRows | _: SortExec | _: WindowExecBase
        if expression.references.subsetOf(plan.children.head.outputSet) =>
      origin(plan.children.head, expression)
    case _ => expression
  }

  private def meaningOf(outputs: Seq[NamedExpression]): AttributeMap[Expression] =
    AttributeMap(outputs.collect { case alias: Alias => alias.toAttribute -> alias.child })

  private def renamed(expression: Expression, meaning: AttributeMap[Expression]): Expression =
    // From below: what stands for a column may have columns of the same names.
    expression.transformUp { case column: Attribute => meaning.getOrElse(column, column) }

  private implicit class Order(order: SortOrder) {
    def mapChild(change: Expression => Expression): SortOrder =
      SortOrder(change(order.child), order.direction, order.nullOrdering, Nil)
  }
}
