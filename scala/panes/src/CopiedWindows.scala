package io.firesteel.panes

import io.firesteel.core.windows.{CopiedRows, PaneGrid, WindowExpand}

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Literal, PreciseTimestampConversion}
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LogicalPlan}
import org.apache.spark.sql.types.LongType

/** The copies of rows that `window()` makes: Spark's own, or those of [[ResolveFoldedWindows]]. */
private[panes] object CopiedWindows {

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
