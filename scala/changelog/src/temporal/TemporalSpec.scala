package io.firesteel.changelog.temporal

import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.JoinType

/**
 * A temporal join as its tasks know it. Places are those in `leftColumns` and `rightColumns`.
 *
 * @param deletedAt the place of the column that says whether a version ends the key; -1 without one
 */
final private[temporal] case class TemporalSpec(
    joinType: JoinType,
    leftKeys: Seq[Attribute],
    rightKeys: Seq[Attribute],
    leftColumns: Seq[Attribute],
    rightColumns: Seq[Attribute],
    leftTimeAt: Int,
    rightTimeAt: Int,
    order: Seq[SortOrder],
    deletedAt: Int,
    condition: Option[Expression]) {

  /** Whether the table has the first row of each key, not the newest. */
  def ofFirst: Boolean = order.head.direction == Ascending
}
