package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.ExprId

/** Whether a result has updates and deletions. Every result may have inserts. */
final private[changelog] case class Changes(updates: Boolean, deletes: Boolean) {

  def insertOnly: Boolean = !updates && !deletes

  def |(other: Changes): Changes = Changes(updates || other.updates, deletes || other.deletes)

  /** The changelog mode in the notation of Flink's `CHANGELOG_MODE`: `[I,UB,UA,D]`. */
  def text(updateBefore: Boolean): String = {
    val before = if (updates && updateBefore) Seq("UB") else Nil
    val after = if (updates) Seq("UA") else Nil
    val gone = if (deletes) Seq("D") else Nil
    (Seq("I") ++ before ++ after ++ gone).mkString("[", ",", "]")
  }
}

private[changelog] object Changes {
  val InsertOnly: Changes = Changes(updates = false, deletes = false)
  val All: Changes = Changes(updates = true, deletes = true)
}

/**
 * Facts of a result that do not depend on its readers.
 *
 * @param upsertKeys sets of columns. At any time no two rows agree on all columns of a set. Changes
 *   of rows that agree on them come from one task, in order. The empty set says that there is at
 *   most one row.
 * @param trends columns that change in one direction only when a row is replaced
 * @param eventTimes event-time columns or windows that the watermark closes. Rows of a closed value
 *   do not change any more; a late row may still arrive
 */
final private[plan] case class Facts(
    changes: Changes,
    upsertKeys: Set[Set[ExprId]],
    trends: Map[ExprId, Trend] = Map.empty,
    eventTimes: Map[ExprId, EventTime] = Map.empty)

/** The direction in which a column changes. A null is a value that is still missing. */
private[plan] sealed trait Trend

private[plan] object Trend {

  /** As a count of insert-only rows. */
  case object Rising extends Trend

  /** As a minimum of insert-only rows. */
  case object Falling extends Trend
}
