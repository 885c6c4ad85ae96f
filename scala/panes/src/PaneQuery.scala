package io.firesteel.panes

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Join, LogicalPlan, Project, UnaryNode}

/**
 * An aggregate over the copies of rows that `window()` makes, and the nodes between the two.
 *
 * {{{
 *   Aggregate [k, window], ...
 *   +- Project / Filter ...      any number of them; any other node declines
 *      +- Expand                 one copy of a row for each of its windows
 * }}}
 *
 * @param between the nodes between, from the lowest to the highest
 */
private[panes] final case class PaneQuery(
    aggregate: Aggregate,
    between: Seq[LogicalPlan],
    copied: CopiedRows)
  extends PredicateHelper {

  /** A node between that is neither projection nor filter. */
  def obstacle: Option[LogicalPlan] = between.find {
    case _: Project | _: Filter => false
    case _ => true
  }

  def expressionsBetween: Seq[Expression] = between.flatMap(_.expressions)

  // Each column above a node, as an expression over the rows before copying and the window column.
  private val (columns, conditions) = {
    val start = AttributeMap(
      (copied.columns + (copied.attribute -> copied.attribute)).toSeq)
    between.foldLeft((start, Seq.empty[Expression])) { case ((known, conditions), node) =>
      node match {
        case project: Project =>
          (AttributeMap(project.projectList.map(c => c.toAttribute -> in(known)(c))), conditions)
        case filter: Filter =>
          (known, conditions ++ splitConjunctivePredicates(filter.condition).map(in(known)))
        case _ => (known, conditions)
      }
    }
  }

  /** The conditions that a copy satisfies, over the rows and the window column. */
  val filters: Seq[Expression] = conditions

  /** An expression of the aggregate, over the rows and the window column. */
  def inRows(expression: Expression): Expression = in(columns)(expression)

  def readsWindow(expression: Expression): Boolean =
    expression.references.contains(copied.attribute)

  /** Whether an expression over rows and window reads only the window. */
  def readsWindowOnly(expression: Expression): Boolean =
    expression.references.nonEmpty && expression.references.forall(_ == copied.attribute)

  /** Columns, other than the window, that differ between copies of a row. */
  def unknownColumns(expression: Expression): Seq[Attribute] =
    expression.references.filterNot { a =>
      a == copied.attribute || copied.child.outputSet.contains(a)
    }.toSeq

  private def in(known: AttributeMap[Expression])(expression: Expression): Expression =
    expression match {
      case alias: Alias => in(known)(alias.child)
      case other => other.transform { case a: Attribute => known.getOrElse(a, a) }
    }
}

private[panes] object PaneQuery {

  def unapply(plan: LogicalPlan): Option[PaneQuery] = plan match {
    case aggregate: Aggregate =>
      descend(aggregate.child, Nil).map { case (between, copied) =>
        PaneQuery(aggregate, between, copied)
      }
    case _ => None
  }

  private def descend(
      plan: LogicalPlan,
      above: List[LogicalPlan]): Option[(List[LogicalPlan], CopiedRows)] = plan match {
    case CopiedRows(copied) => Some((above, copied))
    case WindowCopies(windows, _) => descend(windows, above)
    case _: Aggregate => None
    case node: UnaryNode => descend(node.child, node :: above)
    // Spark pushes LEFT SEMI and ANTI joins below an aggregate.
    case join: Join => descend(join.left, join :: above)
    case _ => None
  }
}
