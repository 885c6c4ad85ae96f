package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.sql.{RowKindFunction, StateTtl}
import org.apache.spark.sql.catalyst.expressions.{AttributeSet, NamedExpression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{GlobalLimit, LocalLimit, LogicalPlan, Offset, Project, Repartition, Sort, SubqueryAlias, View}

/**
 * The last `ORDER BY` of a query. Complete mode sorts the whole result by it, with columns that
 * only the order reads:
 *
 * {{{
 *   Project [word]                                  Project [word]
 *   +- GlobalLimit 3                                +- Sort [c DESC]
 *      +- Sort [c DESC]                 =>             +- the table of   GlobalLimit 3
 *         +- Aggregate [word], [word, c]                                 +- Sort [c DESC]
 *                                                                           +- Aggregate ...
 * }}}
 *
 * @param query the query of the table
 * @param order the order of the table; none if the query has none
 * @param projections over the sorted table, topmost first
 */
final private[changelog] case class LastOrder(
    query: LogicalPlan,
    order: Option[Seq[SortOrder]],
    projections: List[Seq[NamedExpression]]) {

  def over(table: LogicalPlan): LogicalPlan = {
    // One task: a sort by ranges would run the stateful plan twice, once to sample it.
    val sorted = order.fold(table) { by =>
      Sort(by, global = false, Repartition(1, shuffle = true, table))
    }
    projections.foldRight(sorted)(Project(_, _))
  }
}

private[changelog] object LastOrder {

  /** @param throughViews whether the order of a view counts, see `PlanVersion.moreForms` */
  def apply(query: LogicalPlan, throughViews: Boolean): LastOrder =
    new Search(throughViews).find(
      query,
      limited = false).fold(LastOrder(query, None, Nil))(onlyRead)

  /** The order that append and update mode ignore: the changes of a result have none. */
  def ignored(query: LogicalPlan): Option[Seq[SortOrder]] = outermost(query).map(_._1.order)

  /** The query without that order. */
  def without(query: LogicalPlan): LogicalPlan = outermost(query).fold(query)(_._2)

  private def outermost(query: LogicalPlan): Option[(Sort, LogicalPlan)] = query match {
    case sort: Sort if sort.global => Some((sort, sort.child))
    case _: SubqueryAlias | _: View | _: StateTtl | _: Project =>
      outermost(query.children.head).map { case (sort, rest) =>
        (sort, query.withNewChildren(Seq(rest)))
      }
    case _ => None
  }

  /** The same query with only the columns that the order and the projections read. */
  private def onlyRead(last: LastOrder): LastOrder =
    last.projections.lastOption.fold(last) { lowest =>
      val read = AttributeSet((lowest ++ last.order.toSeq.flatten).flatMap(_.references))
      last.copy(query = Project(last.query.output.filter(read.contains), last.query))
    }

  final private class Search(throughViews: Boolean) {

    /** @param limited whether a limit above needs the order, which then stays below it */
    def find(plan: LogicalPlan, limited: Boolean): Option[LastOrder] = plan match {
      case alias: SubqueryAlias => find(alias.child, limited)
      case view: View if throughViews => find(view.child, limited)
      case StateTtl(ms, child) =>
        find(child, limited).map(last => last.copy(query = StateTtl(ms, last.query)))
      case Project(columns, child) if !columns.exists(RowKindFunction.isIn) =>
        find(child, limited).map(last => last.copy(projections = columns :: last.projections))
      case GlobalLimit(n, LocalLimit(m, child)) if !limited =>
        find(child, limited = true).map(last =>
          last.copy(query = GlobalLimit(n, LocalLimit(m, last.query))))
      // DataFrames write it like this: of the first n rows all but m.
      case Offset(m, limit: GlobalLimit) if !limited =>
        find(limit, limited).map(last => last.copy(query = Offset(m, last.query)))
      case Offset(m, child) if !limited =>
        find(child, limited = true).map(last => last.copy(query = Offset(m, last.query)))
      case Offset(n, child) if limited =>
        find(child, limited).map(last => last.copy(query = Offset(n, last.query)))
      case sort: Sort if sort.global =>
        Some(LastOrder(if (limited) sort else sort.child, Some(sort.order), Nil))
      case _ => None
    }
  }
}
