package io.firesteel.changelog.join

import io.firesteel.changelog.plan.JoinedSide
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.JoinType

/**
 * A join as its tasks know it.
 *
 * @param pairedBy, unread see [[io.firesteel.changelog.plan.lower.ChangelogJoin]]
 * @param isInSlots whether the only key of state is one of the
 *   [[io.firesteel.changelog.state.Slots]]
 * @param isSnapshot whether left rows meet the right rows as they are, and are not kept
 * @param updateBefore whether an update emits the row that it replaces
 * @param below the join that joins the left rows again; none if state keeps them
 */
final private[changelog] case class JoinSpec(
    joinType: JoinType,
    left: JoinedSide,
    right: JoinedSide,
    condition: Option[Expression],
    pairedBy: Option[Seq[Attribute]],
    unread: Seq[Attribute],
    isInSlots: Boolean,
    isSnapshot: Boolean,
    updateBefore: Boolean,
    below: Option[SpecBelow])

/**
 * A join whose rows are joined again, as the tasks of the join above know it.
 *
 * @param member, stored see [[io.firesteel.changelog.plan.JoinBelow]]
 */
final private[changelog] case class SpecBelow(member: Int, stored: Seq[Int], spec: JoinSpec)
