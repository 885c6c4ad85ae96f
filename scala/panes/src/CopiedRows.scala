package io.firesteel.panes

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal, PreciseTimestampConversion}
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LogicalPlan}
import org.apache.spark.sql.types.LongType

/** A node that makes a row for each window that a row may belong to. */
private[panes] trait CopiedRows {

  /** The rows. */
  def child: LogicalPlan

  /** The window column. */
  def attribute: Attribute

  /** Other columns of the copies, each with what it is in terms of the rows. */
  def columns: Map[Attribute, Expression]

  /** The time column, if there is just one of a type known to us. */
  def time: Option[Expression]

  /** Size, slide and start, if the copies are the windows that these say. */
  def grid: Option[PaneGrid]

  /** Whether no row comes with a window that it is not in; else a filter above sees to that. */
  def isExact: Boolean

  /** Whether arithmetic that leaves the range of a LONG is an error; else it wraps around. */
  def isAnsi: Boolean

  /** The earliest start and the latest end of a row's windows, as Spark computes them. */
  def extremes: Seq[Expression]

  /** What a window is, for messages. */
  def sql: String
}

private[panes] object CopiedRows {

  def unapply(plan: LogicalPlan): Option[CopiedRows] = plan match {
    case WindowExpand(expand) => Some(expand)
    case generate @ Generate(windows: WindowsOf, _, _, _, Seq(window), _) =>
      Some(WindowGenerate(generate, windows, window))
    case _ => None
  }
}

/** Windows that [[ResolveFoldedWindows]] has kept in one expression. */
final private[panes] case class WindowGenerate(
    generate: Generate,
    windows: WindowsOf,
    attribute: Attribute)
  extends CopiedRows {

  override def child: LogicalPlan = generate.child
  override def columns: Map[Attribute, Expression] = Map.empty
  override def time: Option[Expression] = Some(windows.time)
  override def isExact: Boolean = true
  override def isAnsi: Boolean = windows.isAnsi
  override def sql: String = windows.sql

  override def grid: Option[PaneGrid] =
    Some(PaneGrid(
      windows.size,
      windows.slide,
      Math.floorMod(windows.start, windows.slide)))

  override def extremes: Seq[Expression] = {
    val micros = PreciseTimestampConversion(windows.time, windows.time.dataType, LongType)
    Seq(
      windows.bounds.start(micros, Literal((windows.copies - 1) * windows.slide)),
      windows.bounds.end(micros, Literal(0L)))
  }
}
