package io.firesteel.changelog.join

import io.firesteel.changelog.plan.JoinedSide
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.JoinType

/**
 * A join as its tasks know it.
 *
 * @param updateBefore whether an update emits the row that it replaces
 */
final private[join] case class JoinSpec(
    joinType: JoinType,
    left: JoinedSide,
    right: JoinedSide,
    condition: Option[Expression],
    pairedBy: Seq[Attribute],
    updateBefore: Boolean)
