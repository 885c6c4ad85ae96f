package io.firesteel.core.windows

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block.BlockHelper
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * A window as Spark's `window()` gives it, from its two bounds, which are never null. Its type has
 * nothing of the columns that these are.
 */
final private[firesteel] case class WindowOfBounds(start: Expression, end: Expression)
  extends BinaryExpression {

  override def left: Expression = start
  override def right: Expression = end
  override def nullable: Boolean = false
  override def prettyName: String = "window"

  override def dataType: DataType =
    new StructType().add("start", start.dataType).add("end", end.dataType)

  override def eval(input: InternalRow): Any = InternalRow(start.eval(input), end.eval(input))

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val (from, to) = (start.genCode(ctx), end.genCode(ctx))
    val row = "org.apache.spark.sql.catalyst.expressions.GenericInternalRow"
    ev.copy(
      code = code"""
        ${from.code}
        ${to.code}
        InternalRow ${ev.value} = new $row(new Object[]{ ${from.value}, ${to.value} });""",
      isNull = FalseLiteral
    )
  }

  override protected def withNewChildrenInternal(
      newLeft: Expression,
      newRight: Expression): WindowOfBounds = copy(newLeft, newRight)
}
