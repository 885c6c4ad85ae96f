package io.firesteel.panes

import io.firesteel.core.windows.PaneGrid
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, Generator, TimeWindow, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types.{LongType, StructType}

/**
 * The windows of a time, the latest first, exactly as Spark's `Expand` makes them. These are the
 * windows that contain the time. If the slide divides the size, windows that leave the range of a
 * LONG are included too: they wrap around, or raise an error in ANSI mode.
 *
 * [[PlanPanes]] normally replaces it. Spark evaluates it if a late rule made panes impossible.
 *
 * @param time a TIMESTAMP or TIMESTAMP_NTZ
 * @param size in microseconds, as are `slide` and `start`
 */
final case class WindowsOf(time: Expression, size: Long, slide: Long, start: Long, isAnsi: Boolean)
  extends UnaryExpression
  with Generator
  with CodegenFallback {

  /** The largest number of windows that contain a time. */
  def copies: Long = (size - 1) / slide + 1

  /** Spark's own expression of the same windows. */
  def asSparks: TimeWindow = TimeWindow(time, size, slide, start)

  def bounds: WindowBounds = WindowBounds(size, slide, start, isAnsi)

  override def child: Expression = time
  override def prettyName: String = "windows"
  override def toString: String =
    s"$prettyName($time, ${PaneGrid.text(size)} by ${PaneGrid.text(slide)})"

  override def elementSchema: StructType =
    new StructType().add("window", asSparks.dataType, nullable = false)

  private lazy val (startAt, endAt) = {
    val (micros, back) =
      (BoundReference(0, LongType, nullable = false), BoundReference(1, LongType, nullable = false))
    (bounds.start(micros, back), bounds.end(micros, back))
  }

  override def eval(input: InternalRow): IterableOnce[InternalRow] = time.eval(input) match {
    case micros: Long =>
      Iterator.iterate(0L)(_ + 1).takeWhile(_ < copies).map { i =>
        val at = InternalRow(micros, i * slide)
        InternalRow(startAt.eval(at), endAt.eval(at))
      }.filter(within(micros, _)).map(InternalRow(_))
    case _ => Iterator.empty
  }

  private def within(micros: Long, window: InternalRow): Boolean =
    size % slide == 0 || (micros >= window.getLong(0) && micros < window.getLong(1))

  override protected def withNewChildInternal(newChild: Expression): WindowsOf =
    copy(time = newChild)
}
