package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.{ChangelogOperator, StaticTable, Stateful}

/**
 * A table in a `UNION` with a stream is read in the first micro-batch. The operator with state above
 * it knows which one that is; without one, the rows would come again in each.
 */
private[changelog] object TablesOnce {

  def require(query: ChangelogOperator): Unit = query match {
    case _: StaticTable => throw ChangelogErrors.unsupportedOperator(
        "UNION of a stream and a table",
        "no operator above it keeps rows, so each micro-batch would have the table's rows again",
        "read the table as a stream, or write its rows to the target by a query of their own"
      )
    case _: Stateful => ()
    case other => other.inputs.foreach(require)
  }
}
