package io.firesteel.shuffle

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, SortOrder}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.execution.{CodegenSupport, UnaryExecNode}

/** An operator that declares a property of its input's rows and passes them unchanged. */
private[shuffle] trait PassesRows extends UnaryExecNode with CodegenSupport {

  override def output: Seq[Attribute] = child.output
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  // It adds no generated code, and does not split the code around it.
  override def inputRDDs(): Seq[RDD[InternalRow]] = input.inputRDDs()
  override def usedInputs: AttributeSet = AttributeSet.empty
  override protected def doProduce(context: CodegenContext): String = input.produce(context, this)
  override def doConsume(context: CodegenContext, columns: Seq[ExprCode], row: ExprCode): String =
    // If there is a row already it is not built again from its columns.
    if (row.code.nonEmpty) consume(context, columns)
    else consume(context, columns, row.value.code)

  private def input: CodegenSupport = child.asInstanceOf[CodegenSupport]
}
