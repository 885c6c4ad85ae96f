package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.ExprId

/** How a result may change beside growing: rows replaced, rows taken away. Rows may always come. */
final private[changelog] case class Changes(updates: Boolean, deletes: Boolean) {

  def insertOnly: Boolean = !updates && !deletes

  def |(other: Changes): Changes = Changes(updates || other.updates, deletes || other.deletes)

  /** As Flink's `CHANGELOG_MODE` writes it: `[I,UB,UA,D]`. */
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
 * What holds of a result whoever reads it.
 *
 * @param upsertKeys sets of columns: of the rows that are there at any time no two agree on all
 *   columns of a set, and changes of rows that do come from one task, in order. The empty set says
 *   that there is never more than one row.
 * @param trends columns that can change in one direction only, when a row is replaced
 * @param eventTimes columns of time, or windows of it, of which the watermark tells: once one is over, no
 *   change comes of the rows with it, unless it may be late
 */
final private[plan] case class Facts(
    changes: Changes,
    upsertKeys: Set[Set[ExprId]],
    trends: Map[ExprId, Trend] = Map.empty,
    eventTimes: Map[ExprId, EventTime] = Map.empty)

/** The one direction in which a column changes. A null has no value yet, and may get one. */
private[plan] sealed trait Trend

private[plan] object Trend {

  /** As a count of rows that only come. */
  case object Rising extends Trend

  /** As their smallest value. */
  case object Falling extends Trend
}
