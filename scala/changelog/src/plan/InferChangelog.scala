package io.firesteel.changelog.plan

/**
 * An operator with the results of inference.
 *
 * @param updateBefore whether its result has update-before rows
 */
final private[changelog] case class Inferred(
    operator: ChangelogOperator,
    updateBefore: Boolean,
    inputs: Seq[Inferred]) {

  def facts: Facts = operator.facts

  def changes: Changes = facts.changes

  /** The changelog mode of the result, in Flink's notation. */
  def mode: String = changes.text(updateBefore)

  /** The topmost operator for which the condition holds. */
  def where(wanted: ChangelogOperator => Boolean): Option[Inferred] =
    if (wanted(operator)) Some(this) else inputs.flatMap(_.where(wanted)).headOption
}

/**
 * Decides on the plan, not at run time, which kinds of rows each operator emits (Flink:
 * `SatisfyModifyKindSet`, `SatisfyUpdateKind`).
 *
 * Changes and upsert keys follow from the inputs. The need for update-before rows follows from the
 * readers. An operator emits them only if a reader needs them. Every such need can be met: an
 * operator with update-before rows may feed a reader without that need, which drops them. Flink's
 * third pass decides whether a deletion may carry its key alone. It has no use here: every operator
 * of this room emits whole rows, and every reader needs whole rows.
 */
private[changelog] object InferChangelog {

  /** @param updateBefore whether the reader needs the rows that updates replace */
  def apply(root: ChangelogOperator, updateBefore: Boolean): Inferred = {
    val asked = root.asks(updateBefore, root.inputs.map(_.facts))
    val inputs = root.inputs.zip(asked).map { case (input, wanted) =>
      apply(input, wanted && input.facts.changes.updates)
    }
    val before =
      root.facts.changes.updates && root.gives(updateBefore, inputs.map(_.updateBefore))
    Inferred(root, before, inputs)
  }
}
