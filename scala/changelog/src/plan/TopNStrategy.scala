package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, Descending, ExprId, NullsLast, SortOrder}

/**
 * How a Top-N keeps its state. It depends on the changes of the input (Flink:
 * `RankProcessStrategy`).
 */
sealed abstract private[plan] class TopNStrategy(val name: String)

private[plan] object TopNStrategy {

  /** The input is insert-only. A row behind the last place never returns. */
  case object AppendFast extends TopNStrategy("AppendFast")

  /**
   * Updates never worsen a row's place, and there are no deletions. A row behind the last place
   * returns only by an update of its own. `DENSE_RANK` is excluded: an update can make a better row
   * equal to another one, and then all rows behind move up.
   *
   * @param key the upsert key of the rows. A table of one row has an empty key, and uses `Retract`
   *   at no cost.
   */
  final case class UpdateFast(key: Set[ExprId]) extends TopNStrategy("UpdateFast")

  /** Any row may be deleted, and any other row may take its place. */
  case object Retract extends TopNStrategy("Retract")

  def of(
      function: PlaceFunction,
      partition: Seq[Attribute],
      order: Seq[SortOrder],
      input: Facts): TopNStrategy =
    if (input.changes.insertOnly) AppendFast
    else if (input.changes.deletes || function == PlaceFunction.DenseRank) Retract
    else {
      // A row must stay in its partition. Otherwise it had to be removed from its old one.
      val of = partition.map(_.exprId).toSet
      input.upsertKeys
        .find { key =>
          key.nonEmpty && of.subsetOf(key) && order.forall(o => neverWorsens(o, key, input))
        }
        .fold[TopNStrategy](Retract)(UpdateFast(_))
    }

  /** Whether an update never worsens a row's place by this part of the order. */
  private def neverWorsens(order: SortOrder, key: Set[ExprId], input: Facts): Boolean =
    order.child match {
      case column: Attribute if key.contains(column.exprId) => true
      case column: Attribute =>
        // A null may become a value later, so nulls must sort last.
        def nullIsLast = !column.nullable || order.nullOrdering == NullsLast
        input.trends.get(column.exprId).exists {
          case Trend.Rising => order.direction == Descending && nullIsLast
          case Trend.Falling => order.direction == Ascending && nullIsLast
        }
      case _ => false
    }
}
