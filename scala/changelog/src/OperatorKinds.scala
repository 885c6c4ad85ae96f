package io.firesteel.changelog

import org.apache.spark.sql.catalyst.expressions.ExprId

/** Passes on the kinds of its only input, whatever they are. */
private[changelog] trait Forwarding { self: ChangelogOperator =>
  def input: ChangelogOperator
  override def inputs: Seq[ChangelogOperator] = Seq(input)
  override def changes(inputs: Seq[Facts]): Changes = inputs.head.changes
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] = Seq(wanted)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = fromInputs.head
}

/** Keeps state, from which it makes the kinds that are wanted; needs to know every row that goes. */
private[changelog] trait Stateful { self: ChangelogOperator =>
  def input: ChangelogOperator

  /** How long state is kept after it was last written; 0, forever. */
  def ttlMs: Long
  override def inputs: Seq[ChangelogOperator] = Seq(input)
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] =
    inputs.map(_.changes.updates)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = wanted
}

/** Makes several rows of one, or none: what was an update is then rows that go and rows that come. */
private[changelog] trait Multiplying { self: ChangelogOperator =>
  def input: ChangelogOperator
  override def inputs: Seq[ChangelogOperator] = Seq(input)
  override def changes(inputs: Seq[Facts]): Changes =
    Changes(updates = false, deletes = !inputs.head.changes.insertOnly)
  override def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]] = Set.empty
  override def trends(inputs: Seq[Facts]): Map[ExprId, Trend] = Map.empty
  override def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean] =
    inputs.map(_.changes.updates)
  override def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean = false
}
