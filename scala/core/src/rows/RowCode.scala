package io.firesteel.core.rows

import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, GenerateUnsafeProjection}
import org.apache.spark.sql.execution.CodegenSupport
import org.apache.spark.sql.types.{DataType, DateType, IntegerType, LongType, TimestampNTZType, TimestampType}

/** Generated code that reads columns of a row from variables. */
private[firesteel] object RowCode {

  /** Whether a value is read as a word; a value of another type is first written into a row. */
  def isWord(dataType: DataType): Boolean = dataType match {
    case LongType | TimestampType | TimestampNTZType | IntegerType | DateType => true
    case _ => false
  }

  /** The eight bytes of a value in a row. */
  def word(dataType: DataType, code: ExprCode): String = dataType match {
    case IntegerType | DateType => s"${classOf[KeyIndex].getName}.word(${code.value})"
    case _ => code.value.toString
  }

  /**
   * A binary row of some columns.
   *
   * @param input all columns
   * @param row their variables
   */
  def binary(
      ctx: CodegenContext,
      columns: Seq[Attribute],
      input: Seq[Attribute],
      row: Seq[ExprCode]): ExprCode = {
    ctx.INPUT_ROW = null
    ctx.currentVars = row
    GenerateUnsafeProjection.createCode(ctx, BindReferences.bindReferences(columns, input))
  }
}

/**
 * An operator in generated code that reads few columns of every row, and all columns of few rows.
 */
private[firesteel] trait BuildsWantedRows extends CodegenSupport {

  /**
   * Code that builds the row of a wanted input. Spark's own `row.code` would declare columns twice
   * that are already evaluated outside.
   *
   * @param columns columns of the input, whose variables are `input`
   */
  protected def wantedRow(
      ctx: CodegenContext,
      columns: Seq[Attribute],
      input: Seq[ExprCode],
      row: ExprCode): (String, String) =
    if (row.code.toString.trim.isEmpty) ("", row.value.toString)
    else {
      val evaluated = evaluateVariables(input)
      ctx.INPUT_ROW = null
      ctx.currentVars = input
      val all = BindReferences.bindReferences[Expression](columns, columns)
      val built = GenerateUnsafeProjection.createCode(ctx, all)
      (s"$evaluated\n${built.code}", built.value.toString)
    }
}
