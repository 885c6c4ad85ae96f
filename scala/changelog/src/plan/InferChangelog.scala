package io.firesteel.changelog.plan

/**
 * An operator with all that inference says of it.
 *
 * @param updateBefore whether its result has update-before rows
 */
final private[changelog] case class Inferred(
    operator: ChangelogOperator,
    facts: Facts,
    updateBefore: Boolean,
    inputs: Seq[Inferred]) {

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

  def apply(root: ChangelogOperator, updateBefore: Boolean): Inferred = {
    val facts = new java.util.IdentityHashMap[ChangelogOperator, Facts]()
    describe(root, facts)
    decide(root, updateBefore, facts)
  }

  /** What holds of a result, whoever reads it. */
  def facts(root: ChangelogOperator): Facts =
    describe(root, new java.util.IdentityHashMap[ChangelogOperator, Facts]())

  private def describe(
      operator: ChangelogOperator,
      known: java.util.IdentityHashMap[ChangelogOperator, Facts]): Facts = {
    val inputs = operator.inputs.map(describe(_, known))
    val facts = Facts(
      operator.changes(inputs),
      operator.upsertKeys(inputs),
      operator.trends(inputs),
      operator.eventTimes(inputs))
    known.put(operator, facts)
    facts
  }

  private def decide(
      operator: ChangelogOperator,
      wanted: Boolean,
      known: java.util.IdentityHashMap[ChangelogOperator, Facts]): Inferred = {
    val asked = operator.asks(wanted, operator.inputs.map(known.get))
    val inputs = operator.inputs.zip(asked).map { case (input, want) =>
      decide(input, want && known.get(input).changes.updates, known)
    }
    val facts = known.get(operator)
    val updateBefore = facts.changes.updates && operator.gives(wanted, inputs.map(_.updateBefore))
    Inferred(operator, facts, updateBefore, inputs)
  }
}
