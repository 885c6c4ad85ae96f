package io.firesteel.panes

import org.apache.spark.sql.catalyst.expressions.{Add, CaseWhen, EvalMode, Expression, LessThan, Literal, Remainder, Subtract}

/**
 * The starts and ends of a time's windows, by the arithmetic of Spark's `window()`. Near the ends
 * of the range of a LONG, the order of the steps decides whether they overflow.
 *
 * All values are in microseconds.
 */
final private[panes] case class WindowBounds(
    size: Long,
    slide: Long,
    offset: Long,
    isAnsi: Boolean) {

  private val mode = EvalMode.fromBoolean(isAnsi)

  /** The start of the window that begins `back` before the latest window of a time. */
  def start(micros: Expression, back: Expression): Expression = {
    val since = Remainder(Subtract(micros, Literal(offset), mode), Literal(slide), mode)
    val latest = Subtract(
      micros,
      CaseWhen(Seq(LessThan(since, Literal(0L)) -> Add(since, Literal(slide), mode)), since),
      mode)
    Subtract(latest, back, mode)
  }

  def end(micros: Expression, back: Expression): Expression =
    Add(start(micros, back), Literal(size), mode)
}
