package io.firesteel.core.windows

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression, GetStructField, GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual, PredicateHelper}
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
private[firesteel] final case class PaneQuery(
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

  /**
   * Whether the copies are exactly the windows of a row, and the other conditions. If the slide does
   * not divide the size, Spark makes one copy too many of some rows and removes it by `time >=
   * window.start AND time < window.end`. Panes ensure this condition.
   */
  def within(time: Expression): (Boolean, Seq[Expression]) = {
    val (within, others) = filters.partition(c => begun(time)(c) || open(time)(c))
    (copied.isExact || within.exists(begun(time)) && within.exists(open(time)), others)
  }

  /** `time >= window.start` */
  private def begun(time: Expression)(condition: Expression): Boolean = condition match {
    case c: GreaterThanOrEqual => c.left.semanticEquals(time) && isBound(c.right, 0)
    case c: LessThanOrEqual => c.right.semanticEquals(time) && isBound(c.left, 0)
    case _ => false
  }

  /** `time < window.end` */
  private def open(time: Expression)(condition: Expression): Boolean = condition match {
    case c: LessThan => c.left.semanticEquals(time) && isBound(c.right, 1)
    case c: GreaterThan => c.right.semanticEquals(time) && isBound(c.left, 1)
    case _ => false
  }

  private def isBound(side: Expression, ordinal: Int): Boolean = side match {
    case field: GetStructField =>
      field.ordinal == ordinal && field.child.semanticEquals(copied.attribute)
    case _ => false
  }

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

private[firesteel] object PaneQuery {

  /**
   * The query that a plan is, if it is one.
   *
   * @param copied recognises the node that copies rows
   */
  def of(plan: LogicalPlan)(copied: LogicalPlan => Option[CopiedRows]): Option[PaneQuery] = {
    def descend(
        plan: LogicalPlan,
        above: List[LogicalPlan]): Option[(List[LogicalPlan], CopiedRows)] =
      copied(plan).map(above -> _).orElse(plan match {
        case _: Aggregate => None
        case node: UnaryNode => descend(node.child, node :: above)
        // Spark pushes LEFT SEMI and ANTI joins below an aggregate.
        case join: Join => descend(join.left, join :: above)
        case _ => None
      })
    plan match {
      case aggregate: Aggregate =>
        descend(aggregate.child, Nil).map { case (between, copies) =>
          PaneQuery(aggregate, between, copies)
        }
      case _ => None
    }
  }
}
