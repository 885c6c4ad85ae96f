package io.firesteel.panes

import io.firesteel.core.rows.KeyReader
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, PartialMerge}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.{AggUtils, BaseAggregateExec, HashAggregateExec}

/**
 * Plans the aggregation by key and pane, up to the states that windows are merged from.
 *
 * {{{
 *   MergePanes [k], pane, [sum(v)]
 *   +- Exchange hashpartitioning(k)             EnsureRequirements adds it
 *      +- PartialPanes [k], pane, [sum(v)]
 * }}}
 *
 * Rows are clustered by key alone, because a window needs several panes of a key. If states vary in
 * size, Spark's own partial aggregate, which can spill, aggregates the rows. The sort below
 * [[PaneWindowsExec]] brings the parts of a pane together, so a second table above the exchange
 * would gain nothing.
 */
private[panes] object PaneStates {

  /** A plan whose output is keys, pane and states. */
  def plan(
      keys: Seq[NamedExpression],
      pane: NamedExpression,
      functions: Seq[AggregateExpression],
      child: SparkPlan): SparkPlan = {
    AggUtils.planAggregateWithoutDistinct(keys :+ pane, functions, Nil, child).head match {
      // Spark plans a hash aggregate if all states have a fixed size.
      case _: HashAggregateExec =>
        val read = functions.flatMap(_.references).distinct
        val rows = KeyReader.project((keys :+ pane) ++ read, child)
        val (keyColumns, number) = (keys.map(_.toAttribute), pane.toAttribute)
        // A filter applies to rows. Merged states contain only rows that passed it.
        val merging = functions.map(_.copy(mode = PartialMerge, filter = None))
        val partial = PaneStatesExec(keyColumns, number, functions, merges = false, rows)
        PaneStatesExec(keyColumns, number, merging, merges = true, partial)
      case merging: BaseAggregateExec => merging.child
      case other => throw new IllegalStateException(s"not an aggregate of Spark's: $other")
    }
  }
}
