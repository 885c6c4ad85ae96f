package io.firesteel.panes

import org.apache.spark.sql.catalyst.expressions.{Expression, NonSQLExpression, TimeWindow, UnaryExpression, Unevaluable}
import org.apache.spark.sql.types.DataType

/**
 * A call of `window()` that Spark has not expanded into copies. [[ResolveFoldedWindows]] replaces
 * it when its time is resolved.
 */
final private[panes] case class FoldedWindow(time: Expression, size: Long, slide: Long, start: Long)
  extends UnaryExpression
  with Unevaluable
  with NonSQLExpression {

  /** Spark's own expression of the same windows. */
  def asSparks: TimeWindow = TimeWindow(time, size, slide, start)

  override def child: Expression = time
  override def dataType: DataType = asSparks.dataType
  override lazy val resolved: Boolean = false
  override protected def withNewChildInternal(newChild: Expression): FoldedWindow =
    copy(time = newChild)
}
