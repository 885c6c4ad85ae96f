package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, Descending, ExprId, NullsLast, SortOrder}

/** How a Top-N keeps its state, by what its input may do (Flink: `RankProcessStrategy`). */
sealed abstract private[plan] class TopNStrategy(val name: String)

private[plan] object TopNStrategy {

  /** Rows only come: what is once beyond the last place stays there. */
  case object AppendFast extends TopNStrategy("AppendFast")

  /**
   * Rows are replaced, by ones that come no later in the order, and never go: a row that is beyond the
   * last place stays there until it is replaced itself. Not by `DENSE_RANK`: of two better rows one may
   * become the other's equal, and all behind them move up.
   *
   * @param key what tells rows apart; a table of one row has none, and is none the worse for `Retract`
   */
  final case class UpdateFast(key: Set[ExprId]) extends TopNStrategy("UpdateFast")

  /** Anything may go, and any row take its place. */
  case object Retract extends TopNStrategy("Retract")

  def of(
      function: PlaceFunction,
      partition: Seq[Attribute],
      order: Seq[SortOrder],
      input: Facts): TopNStrategy =
    if (input.changes.insertOnly) AppendFast
    else if (input.changes.deletes || function == PlaceFunction.DenseRank) Retract
    else {
      // A row must stay in its partition, or it would have to be taken out of the one it leaves.
      val of = partition.map(_.exprId).toSet
      input.upsertKeys
        .find { key =>
          key.nonEmpty && of.subsetOf(key) && order.forall(o => neverWorsens(o, key, input))
        }
        .fold[TopNStrategy](Retract)(UpdateFast(_))
    }

  /** Whether a row's replacement comes no later by this part of the order. */
  private def neverWorsens(order: SortOrder, key: Set[ExprId], input: Facts): Boolean =
    order.child match {
      case column: Attribute if key.contains(column.exprId) => true
      case column: Attribute =>
        // A column that has no value yet has one later: a null must be last.
        def nullIsLast = !column.nullable || order.nullOrdering == NullsLast
        input.trends.get(column.exprId).exists {
          case Trend.Rising => order.direction == Descending && nullIsLast
          case Trend.Falling => order.direction == Ascending && nullIsLast
        }
      case _ => false
    }
}
