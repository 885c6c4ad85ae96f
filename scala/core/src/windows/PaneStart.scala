package io.firesteel.core.windows

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.DataType

/**
 * The start of the pane of a TIMESTAMP or TIMESTAMP_NTZ, of the same type. A time so near the ends
 * of a LONG's range that its pane has no start is an error.
 */
final private[firesteel] case class PaneStart(time: Expression, windows: PaneWindows)
  extends UnaryExpression {

  override def child: Expression = time
  override def dataType: DataType = time.dataType
  override def nullIntolerant: Boolean = true
  override def prettyName: String = "pane"
  override def toString: String = s"$prettyName($time, $windows)"
  override def sql: String = s"$prettyName(${time.sql}, $windows)"

  override protected def nullSafeEval(micros: Any): Any =
    windows.paneOf(micros.asInstanceOf[Long])

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val reference = ctx.addReferenceObj("windows", windows, classOf[PaneWindows].getName)
    defineCodeGen(ctx, ev, micros => s"$reference.paneOf($micros)")
  }

  override protected def withNewChildInternal(newChild: Expression): PaneStart =
    copy(time = newChild)
}
