package io.firesteel.panes

import io.firesteel.core.rows.KeyReader
import org.apache.spark.sql.catalyst.expressions.NamedExpression
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, PartialMerge}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.{AggUtils, BaseAggregateExec, HashAggregateExec}

/**
 * Aggregates by key and pane, up to the states that panes are merged from.
 *
 * {{{
 *   MergePanes [k], pane, [sum(v)]
 *   +- Exchange hashpartitioning(k)             EnsureRequirements adds it
 *      +- PartialPanes [k], pane, [sum(v)]
 * }}}
 *
 * Rows are clustered by key alone, since the panes of a key make up its windows together. Where
 * states are not of one size, rows are aggregated by Spark's own partial aggregate, with its ways to
 * spill; the parts of a pane come together in the sort below [[PaneWindowsExec]], so that a second
 * table of objects would be of no use.
 */
private[panes] object PaneStates {

  /** A plan that gives keys, pane and states. */
  def plan(
      keys: Seq[NamedExpression],
      pane: NamedExpression,
      functions: Seq[AggregateExpression],
      child: SparkPlan): SparkPlan = {
    AggUtils.planAggregateWithoutDistinct(keys :+ pane, functions, Nil, child).head match {
      // Spark hashes where every state is of one size.
      case _: HashAggregateExec =>
        val read = functions.flatMap(_.references).distinct
        val rows = KeyReader.project((keys :+ pane) ++ read, child)
        val (keyColumns, number) = (keys.map(_.toAttribute), pane.toAttribute)
        // A filter is for rows: what is merged has passed it.
        val merging = functions.map(_.copy(mode = PartialMerge, filter = None))
        val partial = PaneStatesExec(keyColumns, number, functions, merges = false, rows)
        PaneStatesExec(keyColumns, number, merging, merges = true, partial)
      case merging: BaseAggregateExec => merging.child
      case other => throw new IllegalStateException(s"not an aggregate of Spark's: $other")
    }
  }
}
