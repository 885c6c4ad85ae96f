package io.firesteel.core.windows

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A node that emits one copy of a row for each window that the row may belong to. */
private[firesteel] trait CopiedRows {

  /** The rows before copying. */
  def child: LogicalPlan

  /** The window column. */
  def attribute: Attribute

  /** Other columns of the copies, each as an expression over the rows. */
  def columns: Map[Attribute, Expression]

  /** The time, if there is exactly one and its type is TIMESTAMP or TIMESTAMP_NTZ. */
  def time: Option[Expression]

  /** Size, slide and start, if the copies are exactly the windows of such a grid. */
  def grid: Option[PaneGrid]

  /** Whether every copy is inside its window. Otherwise a filter above removes the others. */
  def isExact: Boolean

  /** Whether overflow of LONG arithmetic is an error (ANSI mode). Otherwise it wraps around. */
  def isAnsi: Boolean

  /** The earliest start and the latest end of a row's windows, computed as Spark does. */
  def extremes: Seq[Expression]

  /** SQL of a window, for messages. */
  def sql: String
}
