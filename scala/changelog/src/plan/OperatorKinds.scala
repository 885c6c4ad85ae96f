package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.ExprId

/** Has one input. `O` is [[ChangelogOperator]], whose file names this one. */
private[plan] trait OneInput[O] {
  def input: O
  def inputs: Seq[O] = Seq(input)
}

/** Passes on the kinds of its only input, whatever they are. */
private[plan] trait Forwarding[O] extends ChangelogTraits with OneInput[O] {
  override def changes(inputs: Seq[Facts]): Changes = inputs.head.changes
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Seq(wanted)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = fromInputs.head
}

/** Keeps state, from which it emits the kinds that are wanted. It must see every row that goes. */
private[plan] trait Stateful extends ChangelogTraits {

  /** How long state is kept after it was last written, in milliseconds; 0, forever. */
  def ttlMs: Long
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] =
    inputs.map(_.changes.updates)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = wanted
}

/** Makes several rows of one, or none: an update becomes deletions and insertions. */
private[plan] trait Multiplying[O] extends ChangelogTraits with OneInput[O] {
  override def changes(inputs: Seq[Facts]): Changes =
    Changes(updates = false, deletes = !inputs.head.changes.insertOnly)
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] =
    inputs.map(_.changes.updates)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = false
}
