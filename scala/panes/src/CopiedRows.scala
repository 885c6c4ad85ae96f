package io.firesteel.panes

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal, PreciseTimestampConversion}
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LogicalPlan}
import org.apache.spark.sql.types.LongType

/** A node that emits one copy of a row for each window that the row may belong to. */
private[panes] trait CopiedRows {

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

private[panes] object CopiedRows {

  def unapply(plan: LogicalPlan): Option[CopiedRows] = plan match {
    case WindowExpand(expand) => Some(expand)
    case generate: Generate =>
      Option(generate.generator).collect { case windows: WindowsOf =>
        WindowGenerate(generate, windows, generate.generatorOutput.head)
      }
    case _ => None
  }
}

/** Windows that [[ResolveFoldedWindows]] planned as one generator. */
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
