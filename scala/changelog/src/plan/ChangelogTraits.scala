package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.ExprId

/**
 * What changelog inference asks of an operator (Flink: `ChangelogTraitInferencer`): how does its
 * result change when its inputs change so, what identifies a row of it, and must its inputs emit the
 * row that an update replaces. An operator may have any number of inputs.
 */
private[plan] trait ChangelogTraits {

  /** How the result changes. */
  def changes(inputs: Seq[Facts]): Changes

  /** What identifies a row of the result. */
  def upsertKeys(inputs: Seq[Facts]): Set[Set[ExprId]]

  /** Columns of the result that change in one direction only. */
  def trends(inputs: Seq[Facts]): Map[ExprId, Trend]

  /**
   * Columns of the result that the watermark closes. An operator that may take a row back whenever
   * another comes has them only among those by which it keeps its rows apart.
   */
  def eventTimes(inputs: Seq[Facts]): Map[ExprId, EventTime]

  /** Whether each input must give update-before rows, when those above want them or do not. */
  def asks(wanted: Boolean, inputs: Seq[Facts]): Seq[Boolean]

  /** Whether the result has update-before rows, when `wanted`, and those of its inputs have or not. */
  def gives(wanted: Boolean, fromInputs: Seq[Boolean]): Boolean
}
