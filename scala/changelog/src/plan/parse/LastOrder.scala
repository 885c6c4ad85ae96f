package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.sql.{RowKindFunction, StateTtl}
import org.apache.spark.sql.catalyst.expressions.{AttributeSet, NamedExpression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{GlobalLimit, LocalLimit, LogicalPlan, Offset, Project, Repartition, Sort, SubqueryAlias}

/**
 * The order that a query asks for last. In complete mode the whole result is there to be sorted, with columns
 * that only the order reads:
 *
 * {{{
 *   Project [word]                                  Project [word]
 *   +- GlobalLimit 3                                +- Sort [c DESC]
 *      +- Sort [c DESC]                 =>             +- the table of   GlobalLimit 3
 *         +- Aggregate [word], [word, c]                                 +- Sort [c DESC]
 *                                                                           +- Aggregate ...
 * }}}
 *
 * @param query what the table is of
 * @param order of the table; none, if the query asks for none
 * @param projections over the sorted table, from above down
 */
final private[changelog] case class LastOrder(
    query: LogicalPlan,
    order: Option[Seq[SortOrder]],
    projections: List[Seq[NamedExpression]]) {

  def over(table: LogicalPlan): LogicalPlan = {
    // In one task: a sort by ranges would run the stateful plan twice, once to sample it.
    val sorted = order.fold(table) { by =>
      Sort(by, global = false, Repartition(1, shuffle = true, table))
    }
    projections.foldRight(sorted)(Project(_, _))
  }
}

private[changelog] object LastOrder {

  def apply(query: LogicalPlan): LastOrder =
    find(query, limited = false).fold(LastOrder(query, None, Nil))(onlyRead)

  /** The same of a table with those columns alone that the order and the projections read. */
  private def onlyRead(last: LastOrder): LastOrder =
    last.projections.lastOption.fold(last) { lowest =>
      val read = AttributeSet((lowest ++ last.order.toSeq.flatten).flatMap(_.references))
      last.copy(query = Project(last.query.output.filter(read.contains), last.query))
    }

  /** @param limited whether a limit above needs the order, which then stays below it */
  private def find(plan: LogicalPlan, limited: Boolean): Option[LastOrder] = plan match {
    case alias: SubqueryAlias => find(alias.child, limited)
    case StateTtl(ms, child) =>
      find(child, limited).map(last => last.copy(query = StateTtl(ms, last.query)))
    case Project(columns, child) if !columns.exists(RowKindFunction.isIn) =>
      find(child, limited).map(last => last.copy(projections = columns :: last.projections))
    case GlobalLimit(n, LocalLimit(m, child)) if !limited =>
      find(child, limited = true).map(last =>
        last.copy(query = GlobalLimit(n, LocalLimit(m, last.query))))
    // As of a DataFrame: of the first n all but m.
    case Offset(m, limit: GlobalLimit) if !limited =>
      find(limit, limited).map(last => last.copy(query = Offset(m, last.query)))
    case Offset(n, child) if limited =>
      find(child, limited).map(last => last.copy(query = Offset(n, last.query)))
    case sort: Sort if sort.global =>
      Some(LastOrder(if (limited) sort else sort.child, Some(sort.order), Nil))
    case _ => None
  }
}
