package io.firesteel.core.rows

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * A value that a projection copies, because the memory of its input row is reused.
 *
 * Generated code copies every value that points into a row. Spark's interpreted projections
 * (`InternalRow.getWriter`) do not copy strings with a collation other than UTF8_BINARY.
 */
private[core] final case class CopiedValue(child: Expression) extends UnaryExpression {

  override def nullIntolerant: Boolean = true
  override def dataType: DataType = child.dataType

  override protected def nullSafeEval(value: Any): Any = value.asInstanceOf[UTF8String].copy()

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    child.genCode(ctx)

  override protected def withNewChildInternal(newChild: Expression): CopiedValue = copy(newChild)
}

private[core] object CopiedValue {

  /** The value, copied if Spark would not copy it. */
  def of(value: Expression): Expression = value.dataType match {
    case StringType => value
    case _: StringType => CopiedValue(value)
    case _ => value
  }
}
