package io.firesteel.skew

import io.firesteel.core.rows.{KeyReader, RowCode}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}

/**
 * Java code that finds a row's group and updates its buffer.
 *
 * @param groups the expression of [[Groups]]
 * @param input the columns of a row
 */
private[skew] final class GroupCode(
    grouping: Seq[Attribute],
    ordinary: Seq[AggregateExpression],
    input: Seq[Attribute],
    groups: String) {

  /** Code, and the expression for the row's group after it. */
  def groupOf(ctx: CodegenContext, row: Seq[ExprCode]): (String, String) = grouping match {
    case Seq(key) if RowCode.isWord(key.dataType) =>
      val code = row(KeyReader.placeOf(key, input))
      ("", s"${code.isNull} ? $groups.ofNull() : $groups.of(${RowCode.word(key.dataType, code)})")
    case keys =>
      val code = RowCode.binary(ctx, keys, input, row)
      (code.code.toString, s"$groups.of((UnsafeRow) ${code.value})")
  }

  def updatesOf(ctx: CodegenContext, row: Seq[ExprCode], group: String): String =
    if (ordinary.isEmpty) ""
    else {
      val buffer = ctx.freshName("groupBuffer")
      val updates = UpdateCode.of(ctx, ordinary, input, row, buffer)
      s"UnsafeRow $buffer = (UnsafeRow) $groups.buffer($group);\n$updates"
    }
}
