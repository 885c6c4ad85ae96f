package io.firesteel.shuffle

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, SortOrder}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.execution.{CodegenSupport, UnaryExecNode}

/** An operator that knows something of its input's rows, and hands them on as they are. */
private[shuffle] trait PassesRows extends UnaryExecNode with CodegenSupport {

  override def output: Seq[Attribute] = child.output
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  override protected def doExecute(): RDD[InternalRow] = child.execute()

  // In generated code it is nothing, rather than an end to what is compiled together.
  override def inputRDDs(): Seq[RDD[InternalRow]] = input.inputRDDs()
  override def usedInputs: AttributeSet = AttributeSet.empty
  override protected def doProduce(context: CodegenContext): String = input.produce(context, this)
  override def doConsume(context: CodegenContext, columns: Seq[ExprCode], row: ExprCode): String =
    // A row that is there already is not made again of its columns.
    if (row.code.nonEmpty) consume(context, columns)
    else consume(context, columns, row.value.code)

  private def input: CodegenSupport = child.asInstanceOf[CodegenSupport]
}
