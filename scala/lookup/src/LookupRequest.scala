package io.firesteel.lookup

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, LeafExpression, Literal}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, StringType}

/** What a Python worker is told of a lookup join: a constant text, which plans need not show. */
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
