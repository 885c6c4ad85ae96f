package io.firesteel.changelog.plan

/**
 * An operator with all that inference says of it.
 *
 * @param updateBefore whether its result has update-before rows
 */
final private[changelog] case class Inferred(
    operator: ChangelogOperator,
    updateBefore: Boolean,
    inputs: Seq[Inferred]) {

  def facts: Facts = operator.facts

  def changes: Changes = facts.changes

  /** The changelog mode of the result, as Flink writes it. */
  def mode: String = changes.text(updateBefore)

  /** The uppermost operator of a kind. */
  def where(wanted: ChangelogOperator => Boolean): Option[Inferred] =
    if (wanted(operator)) Some(this) else inputs.flatMap(_.where(wanted)).headOption
}

/**
 * Decides on the plan, not at run time, which kinds of rows each operator gives (Flink:
 * `SatisfyModifyKindSet`, `SatisfyUpdateKind`).
 *
 * How results change and what identifies their rows is known from below; whether the replaced row of
 * an update is told is decided from above, and only where something needs it. A demand can always
 * be met, since an operator may give update-before rows to one that wants none: it drops them.
 * Flink's third pass, whether a deletion may tell its key alone, has nothing to decide here: every
 * operator of this room gives whole rows, and none is content with less.
 */
private[changelog] object InferChangelog {

  /** @param updateBefore whether the result is wanted with the rows that its updates replace */
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
