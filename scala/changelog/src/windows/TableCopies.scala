package io.firesteel.changelog.windows

import io.firesteel.core.windows.{CopiedRows, PaneGrid, PaneWindows}

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, IsNotNull}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Generate, LogicalPlan}
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/**
 * The copies of rows that `HOP` and `CUMULATE` make: a row for each window, with its start or its
 * end in microseconds.
 *
 * @param time the column of time, which the rows below have
 */
final private[changelog] case class TableCopies(
    generate: Generate,
    windows: PaneWindows,
    column: Attribute)
  extends CopiedRows {
  override def child: LogicalPlan = generate.child
  override def attribute: Attribute = generate.generatorOutput.head
  override def columns: Map[Attribute, Expression] = Map.empty
  override def time: Option[Expression] = Some(column)
  override def grid: Option[PaneGrid] = None
  override def isExact: Boolean = true
  override def isAnsi: Boolean = true
  override def extremes: Seq[Expression] = Nil
  override def sql: String = windows.toString
}

private[changelog] object TableCopies {

  private val numbers = "firesteel.panes"

  /** The metadata of the column with the start or the end of a row's windows. */
  def metadata(assigner: WindowAssigner): Metadata = {
    val its = assigner match {
      case WindowAssigner.Hop(slide, size, offset) => Array(0L, slide, size, offset)
      case WindowAssigner.Cumulate(step, size, offset) => Array(1L, step, size, offset)
      case other => throw new IllegalArgumentException(other.toString)
    }
    new MetadataBuilder().putLongArray(numbers, its).build()
  }

  def unapply(plan: LogicalPlan): Option[TableCopies] = plan match {
    case generate: Generate =>
      for {
        made <- generate.generatorOutput.headOption if made.metadata.contains(numbers)
        time <- timed(generate.child)
        windows <- windowsOf(made.metadata.getLongArray(numbers))
      } yield TableCopies(generate, windows, time)
    case _ => None
  }

  private def timed(rows: LogicalPlan): Option[Attribute] = rows match {
    case Filter(IsNotNull(time: Attribute), _) => Some(time)
    case _ => None
  }

  /** Windows of one pane each gain nothing. */
  private def windowsOf(its: Array[Long]): Option[PaneWindows] = its match {
    case Array(0L, slide, size, offset) if size > slide =>
      Some(PaneWindows.Sliding(PaneGrid(size, slide, Math.floorMod(offset, slide))))
    case Array(1L, step, size, offset) if size > step =>
      Some(PaneWindows.Cumulative(step, size, offset))
    case _ => None
  }
}
