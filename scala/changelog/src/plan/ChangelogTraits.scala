package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.ExprId

/**
 * The questions of changelog inference to an operator (Flink: `ChangelogTraitInferencer`). How does
 * its result change, given the changes of its inputs? Which columns identify a row of the result?
 * Must its inputs emit the row that an update replaces? An operator may have any number of inputs.
 */
private[plan] trait ChangelogTraits {

  /** How the result changes. */
  def changes(inputs: Seq[Facts]): Changes

  /** The upsert keys of the result. */
  def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]]

  /** Columns of the result that change in one direction only. */
  def trends(inputs: Seq[Facts]): Map[ExprId, Trend]

  /**
   * Columns of the result that the watermark closes. If an operator may retract a row at any time,
   * only columns of its keys are among them.
   */
  def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime]

  /** Whether each input must emit update-before rows. `wanted`: whether a reader needs them. */
  def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean]

  /**
   * Whether the result has update-before rows, given the need of its reader and those of its
   * inputs.
   */
  def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean
}
