package io.firesteel.core.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BinaryArithmetic, BoundReference, CreateNamedStruct, EvalMode, Expression, GetStructField, PreciseTimestampConversion, TimeWindow}
import org.apache.spark.sql.catalyst.plans.logical.{Expand, LogicalPlan}
import org.apache.spark.sql.firesteel.evalModeOf
import org.apache.spark.sql.types.{LongType, TimestampNTZType, TimestampType}

/**
 * The copies that Spark makes of each row for `window(time, size, slide, start)`, one for each
 * window that the row may belong to.
 *
 * @param attribute the window column
 * @param copies the window column's value in each copy
 * @param columns the other columns that are equal in all copies, each as an expression over the
 *   rows
 */
private[firesteel] final case class WindowExpand(
    expand: Expand,
    attribute: Attribute,
    copies: Seq[Expression],
    columns: Map[Attribute, Expression])
  extends CopiedRows {

  override def child: LogicalPlan = expand.child
  override def sql: String = copies.head.sql
  override def isExact: Boolean = grid.exists(_.rest == 0)

  private val conversions = copies.flatMap(_.collect {
    case c: PreciseTimestampConversion
        if c.toType == LongType =>
      c.child
  })

  override val time: Option[Expression] = conversions.headOption.filter { first =>
    conversions.forall(_.semanticEquals(first)) &&
    (first.dataType == TimestampType || first.dataType == TimestampNTZType)
  }

  override val isAnsi: Boolean = copies.forall(!_.exists {
    case sum: BinaryArithmetic => evalModeOf(sum) != EvalMode.ANSI
    case _ => false
  })

  override def extremes: Seq[Expression] =
    Seq(GetStructField(copies.last, 0), GetStructField(copies.head, 1))

  /**
   * Size, slide and start, if the copies are exactly the windows of such a grid. They are found by
   * computing the windows of a time, because the optimizer may change the shape of the expressions.
   * Then they are verified on many times.
   */
  override lazy val grid: Option[PaneGrid] =
    for {
      _ <- time
      if windowsOfTime.forall(_.references.isEmpty)
      (start, end) = boundsAt(windowsOfTime.head, 0L)
      size = end - start
      slide = start - boundsAt(windowsOfTime(1), 0L)._1
      if slide > 0 && size > slide && size <= PaneGrid.longest
      found = PaneGrid(size, slide, Math.floorMod(start, slide))
      if copies.length == (size - 1) / slide + 1
      if WindowExpand.someTimes(found).forall(agrees(found, windowsOfTime.zipWithIndex, _))
      (first, last) = (windowsOfTime.head -> 0, windowsOfTime.last -> (copies.length - 1))
      if WindowExpand.manyTimes(found).forall(agrees(found, Seq(first, last), _))
    } yield found

  // The window of each copy, as a function of the time in microseconds.
  private lazy val windowsOfTime: Seq[Expression] = copies.map(_.transform {
    case c: PreciseTimestampConversion if c.toType == LongType =>
      BoundReference(0, LongType, nullable = false)
  })

  private def boundsAt(window: Expression, time: Long): (Long, Long) = {
    val bounds = window.eval(InternalRow(time)).asInstanceOf[InternalRow]
    (bounds.getLong(0), bounds.getLong(1))
  }

  /** Whether each of these copies, given with its index, has the bounds that the grid gives. */
  private def agrees(grid: PaneGrid, windows: Seq[(Expression, Int)], time: Long): Boolean = {
    val newest = time - Math.floorMod(time - grid.start, grid.slide)
    windows.forall { case (window, i) =>
      val start = newest - i * grid.slide
      boundsAt(window, time) == ((start, start + grid.size))
    }
  }
}

private[firesteel] object WindowExpand {

  def unapply(plan: LogicalPlan): Option[WindowExpand] = plan match {
    case expand: Expand =>
      val columns = expand.output.zip(expand.projections.transpose)
      columns.find((isWindow _).tupled).map { case (window, copies) =>
        val others = columns.collect {
          case (column, values) if column != window && areEqual(values) => column -> values.head
        }
        WindowExpand(expand, window, copies, others.toMap)
      }
    case _ => None
  }

  /**
   * Whether copies differ in this window column. Grouping sets copy rows too, but with an unchanged
   * or null window. The column may also be the window of an earlier aggregate.
   */
  private def isWindow(column: Attribute, copies: Seq[Expression]): Boolean =
    column.metadata.contains(TimeWindow.marker) && copies.length > 1 &&
      copies.forall(_.isInstanceOf[CreateNamedStruct]) && !areEqual(copies.take(2))

  private def areEqual(values: Seq[Expression]): Boolean =
    values.forall(value => (value eq values.head) || value.semanticEquals(values.head))

  private def someTimes(grid: PaneGrid): Seq[Long] =
    Seq(0L, grid.startOf(1) - 1, -1234567890123L)

  /** Times at and next to window bounds, and random ones, before and after 1970. */
  private def manyTimes(grid: PaneGrid): Seq[Long] = {
    val random = new scala.util.Random(grid.size ^ grid.slide)
    val bounds = for {
      window <- Seq(-2L, -1L, 0L, 1L)
      beside <- Seq(-1L, 0L, 1L)
    } yield grid.startOf(window) + beside
    bounds ++ Seq.fill(20)(random.nextLong() >> 8) ++ Seq.fill(20)(random.nextLong() >> 16)
  }
}
