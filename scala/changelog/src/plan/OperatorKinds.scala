package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.ExprId

/** An operator with one input. `O` is [[ChangelogOperator]], whose file names this one. */
private[plan] trait OneInput[O] {
  def input: O
  def inputs: Seq[O] = Seq(input)
}

/** An operator that passes on the kinds of its only input. */
private[plan] trait Forwarding[O] extends ChangelogTraits with OneInput[O] {
  override def changes(inputs: Seq[Facts]): Changes = inputs.head.changes
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Seq(wanted)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = fromInputs.head
}

/**
 * An operator with state. It emits the kinds that its reader needs, and needs every retraction of
 * its inputs.
 */
private[plan] trait Stateful extends ChangelogTraits {

  /** The time to live of state after its last write, in milliseconds; 0 keeps it forever. */
  def ttlMs: Long
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] =
    inputs.map(_.changes.updates)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = wanted
}

/** An operator that makes any number of rows from one. Updates become deletions and inserts. */
private[plan] trait Multiplying[O] extends ChangelogTraits with OneInput[O] {
  override def changes(inputs: Seq[Facts]): Changes =
    Changes(updates = false, deletes = !inputs.head.changes.insertOnly)
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] =
    inputs.map(_.changes.updates)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = false
}
