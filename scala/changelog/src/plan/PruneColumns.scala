package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.Project

/**
 * Removes columns that nothing above reads, so that a change of them emits nothing. Spark's own
 * pruning stops at operators that it does not know.
 *
 * An aggregate that nothing reads is not computed. If nothing reads the place of a Top-N, a shift
 * of places emits nothing.
 */
private[changelog] object PruneColumns {

  def apply(root: ChangelogOperator): ChangelogOperator = prune(root, AttributeSet(root.output))

  private def prune(operator: ChangelogOperator, read: AttributeSet): ChangelogOperator =
    operator match {
      case source: Source => source
      case shared: SharedRows => shared
      case StaticTable(table) =>
        val kept = table.output.filter(read.contains)
        StaticTable(if (kept == table.output) table else Project(kept, table))
      case join: StatelessJoin =>
        val needed = read ++ references(join.join.condition.toSeq)
        join.copy(output = join.output.filter(read.contains), input = only(join.input, needed))
      case source: SourceChanges =>
        source.copy(input = only(source.input, read + source.op))
      case normalize: Normalize =>
        val told = AttributeSet(
          normalize.op +: (normalize.keys ++ normalize.sequence ++ normalize.identity))
        val kept = normalize.copy(input = only(normalize.input, read ++ told))
        kept.copy(unread = kept.columns.filterNot(read.contains).map(_.exprId).toSet)
      case join: TableJoin =>
        val asked = join.table match {
          case JoinedTable.Values(values) => values
          case _ => Nil
        }
        val needed = read - join.matches ++ references(join.key ++ join.streamKeys ++ asked)
        join.copy(input = only(join.input, needed))
      case join: StreamJoin =>
        val times = join.bounds.toSeq.flatMap { case (l, r) => Seq(l.time, r.time) }
        val needed = read ++ references(join.leftKeys ++ join.rightKeys ++ join.condition ++ times)
        val kept = join.copy(left = only(join.left, needed), right = only(join.right, needed))
        kept.copy(unread = kept.output.filterNot(read.contains).map(_.exprId).toSet)
      case Projection(columns, input) =>
        val kept = columns.filter(c => read.contains(c.toAttribute))
        val rows = MatchedRows.narrow(Projection(kept, input))
        rows.copy(input = prune(rows.input, references(rows.columns)))
      case events @ ChangeEvents(columns, _, input) =>
        val kept = columns.filter(c => read.contains(c.toAttribute))
        events.copy(columns = kept, input = prune(input, references(kept)))
      case Selection(condition, input) =>
        Selection(condition, only(input, read ++ condition.references))
      case generation: Generation =>
        val needed = read -- generation.made ++ generation.generator.references
        generation.copy(input = only(generation.input, needed))
      case Expansion(projections, output, input) =>
        val places = output.indices.filter(i => read.contains(output(i)))
        val kept = projections.map(row => places.map(row(_)))
        Expansion(kept, places.map(output(_)), only(input, references(kept.flatten)))
      case UnionAll(inputs, output) =>
        // By position: all inputs keep the same columns.
        val places = output.indices.filter(i => read.contains(output(i)))
        val kept = inputs.map(input => project(input, places.map(input.output(_))))
        UnionAll(kept, places.map(output(_)))
      case aggregate: GroupAggregate =>
        val needed = read ++ AttributeSet(aggregate.closedBy.toSeq)
        val kept = aggregate.results.indices.filter(i => needed.contains(aggregate.results(i)))
        val functions = kept.map(aggregate.functions(_))
        aggregate.copy(
          functions = functions,
          distinct = kept.map(aggregate.distinct(_)),
          results = kept.map(aggregate.results(_)),
          input = only(aggregate.input, AttributeSet(aggregate.keys) ++ references(functions))
        )
      case topN: TopN =>
        val rank = topN.rank.filter(read.contains(_))
        val needed = read -- topN.rank ++ references(topN.partition ++ topN.order)
        topN.copy(rank = rank, input = only(topN.input, needed))
      case held: HeldRows =>
        held.copy(input = only(held.input, read ++ AttributeSet(held.by)))
      case held: HeldSessions =>
        held.copy(input = only(held.input, read ++ AttributeSet(held.keys :+ held.time)))
      case join: TemporalJoin =>
        val needed = read ++ references(
          join.leftKeys ++ join.rightKeys ++ join.order ++ join.condition ++ join.deleted) + join.leftTime
        join.copy(left = only(join.left, needed), right = only(join.right, needed))
      case windows: ClosedWindows =>
        val narrow = windows.only(read)
        narrow.copy(inputs = narrow.inputs.zipWithIndex.map { case (input, i) =>
          project(input, narrow.columnsOf(i))
        })
      case over: OverAggregate => OverColumns.prune(over, read, only)
    }

  /** The input with only these columns. */
  private def only(input: ChangelogOperator, needed: AttributeSet): ChangelogOperator =
    project(input, input.output.filter(needed.contains))

  private def project(input: ChangelogOperator, columns: Seq[Attribute]): ChangelogOperator = {
    val pruned = prune(input, AttributeSet(columns))
    if (pruned.output == columns) pruned else Projection(columns, pruned)
  }

  private def references(expressions: Seq[Expression]): AttributeSet =
    AttributeSet.fromAttributeSets(expressions.map(_.references))
}
