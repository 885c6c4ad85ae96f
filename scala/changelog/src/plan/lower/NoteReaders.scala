package io.firesteel.changelog.plan.lower

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * Writes what reads a shared part into the record of its topmost operator with state, as filters and
 * columns above an operator are in its record: with others, rows that were emitted are never taken
 * back.
 */
private[changelog] object NoteReaders {

  /** Whether a part has such an operator. */
  def hasPlace(part: LogicalPlan): Boolean = part.exists(_.isInstanceOf[StatefulNode])

  def apply(part: LogicalPlan, texts: Seq[String]): LogicalPlan =
    if (texts.isEmpty) part
    else part match {
      case top: StatefulNode => top.withContract { contract =>
          val its = contract.member
          contract.copy(member = its.copy(filters = (its.filters ++ texts).sorted))
        }
      case other => other.mapChildren(apply(_, texts))
    }
}
