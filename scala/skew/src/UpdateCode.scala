package io.firesteel.skew

import io.firesteel.core.rows.MergeableAggregates
import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, Expression, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, DeclarativeAggregate}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, CodeGenerator, ExprCode, VariableValue}

/**
 * Java code that updates a buffer of [[MergeableAggregates]] from variables of generated code. It
 * creates no row and reads each column from its variable.
 */
private[firesteel] object UpdateCode {

  /** Whether all functions are expressions over an `UnsafeRow` of fixed size. */
  def supports(expressions: Seq[AggregateExpression]): Boolean = {
    val functions = expressions.map(_.aggregateFunction)
    functions.forall(_.isInstanceOf[DeclarativeAggregate]) &&
    functions.flatMap(_.aggBufferAttributes).forall(column => UnsafeRow.isMutable(column.dataType))
  }

  /**
   * A statement for each function. Each is a method of its own, because the virtual machine does
   * not compile methods over 8,000 bytes. Exception: it reads more columns than a method may have
   * parameters.
   *
   * @param input the columns of `row`
   * @param row their variables, evaluated
   * @param buffer the variable with the `UnsafeRow`
   */
  def of(
      ctx: CodegenContext,
      expressions: Seq[AggregateExpression],
      input: Seq[Attribute],
      row: Seq[ExprCode],
      buffer: String): String = {
    val states = expressions.flatMap(_.aggregateFunction.aggBufferAttributes)
    val places = expressions.scanLeft(0)(_ + _.aggregateFunction.aggBufferAttributes.size)
    ctx.currentVars = Seq.fill[ExprCode](states.size)(null) ++ row
    expressions.zip(places).map { case (expression, from) =>
      val changes = MergeableAggregates.changes(expression)
      val variables = input.zip(row)
        .filter { case (column, _) => changes.exists(_.references.contains(column)) }
        .flatMap { case (_, code) => Seq(code.isNull, code.value) }
        .collect { case variable: VariableValue => variable }
        .distinct
      val update = statements(ctx, changes, from, states ++ input, buffer)
      if (CodeGenerator.isValidParamLength(
          CodeGenerator.calculateParamLengthFromExprValues(variables) + 1))
        call(ctx, update, buffer, variables)
      else s"{\n$update\n}"
    }.mkString("\n")
  }

  private def statements(
      ctx: CodegenContext,
      changes: Seq[Expression],
      from: Int,
      columns: Seq[Attribute],
      buffer: String): String = {
    ctx.INPUT_ROW = buffer
    val values = BindReferences.bindReferences(changes, columns).map(_.genCode(ctx))
    val updates = changes.zip(values).zipWithIndex.map { case ((change, value), i) =>
      CodeGenerator.updateColumn(buffer, change.dataType, from + i, value, change.nullable)
    }
    (values.map(_.code.toString) ++ updates).mkString("\n")
  }

  /** The parameters have the names of the variables that are passed. */
  private def call(
      ctx: CodegenContext,
      statements: String,
      buffer: String,
      variables: Seq[VariableValue]): String = {
    val name = ctx.freshName("update")
    val parameters = s"UnsafeRow $buffer" +: variables.map { variable =>
      s"${CodeGenerator.typeName(variable.javaType)} ${variable.variableName}"
    }
    val method = ctx.addNewFunction(
      name,
      s"""
         |private void $name(${parameters.mkString(", ")}) throws java.io.IOException {
         |  $statements
         |}
       """.stripMargin
    )
    s"$method(${(buffer +: variables.map(_.variableName)).mkString(", ")});"
  }
}
