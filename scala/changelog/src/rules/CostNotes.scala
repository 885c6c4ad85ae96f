package io.firesteel.changelog.rules

import io.firesteel.changelog.plan.{ChangelogOperator, StreamJoin}

/** What a query costs more than a reader of its text would think: for `explain` and the log. */
private[rules] object CostNotes {

  def apply(query: ChangelogOperator): Seq[String] =
    (query match {
      case join: StreamJoin if join.leftKeys.isEmpty && !join.isInSlots =>
        Seq(
          s"${join.name} has no equality (= or <=>) between its inputs: one task keeps all their rows, " +
            "and compares each change with every row of the other input.")
      case _ => Nil
    }) ++ query.inputs.flatMap(apply)
}
