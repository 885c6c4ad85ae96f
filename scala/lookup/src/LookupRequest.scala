package io.firesteel.lookup

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, LeafExpression, Literal}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, StringType}

/** The description of a lookup join for the Python worker: a constant text, hidden in plans. */
private[lookup] final case class LookupRequest(json: String) extends LeafExpression {
  private def constant: Expression = Literal(json)

  override def nullable: Boolean = false
  override def dataType: DataType = StringType
  override def eval(input: InternalRow): Any = constant.eval(input)
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    constant.genCode(ctx)
  override def toString: String = "request"
  override def sql: String = toString
}
