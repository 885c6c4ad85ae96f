package io.firesteel.changelog.sql

import io.firesteel.core.changes.RowKind
import io.firesteel.core.errors.FiresteelAnalysisException
import org.apache.spark.sql.catalyst.{FunctionIdentifier, InternalRow}
import org.apache.spark.sql.catalyst.expressions.{CaseWhen, Cast, EqualTo, Expression, ExpressionInfo, LeafExpression, Literal}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * `row_kind()`: `+I`, `-U`, `+U` or `-D`. In a streaming query the rewrite replaces it by the kind
 * of each row. In a batch query every row is an insert.
 */
final case class RowKindFunction() extends LeafExpression {
  override def dataType: DataType = StringType
  override def nullable: Boolean = false
  override def prettyName: String = RowKindFunction.name
  // Not foldable: Spark would compute a constant before the rewrite sees it.
  override def eval(input: InternalRow): Any = RowKindFunction.inserted
  override protected def doGenCode(context: CodegenContext, code: ExprCode): ExprCode =
    Literal(RowKindFunction.inserted, StringType).genCode(context)
}

object RowKindFunction {

  private[changelog] val name = "row_kind"

  private val inserted = UTF8String.fromString(RowKind.names(RowKind.Insert.toInt))

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => Expression) =
    (FunctionIdentifier(name), new ExpressionInfo(classOf[RowKindFunction].getName, name), build)

  /** Whether an expression contains `row_kind()`. */
  private[changelog] def isIn(expression: Expression): Boolean =
    expression.exists(_.isInstanceOf[RowKindFunction])

  private def build(arguments: Seq[Expression]): Expression =
    if (arguments.isEmpty) RowKindFunction()
    else {
      throw new FiresteelAnalysisException(
        "FIRESTEEL_WRONG_ARGUMENTS",
        Map(
          "call" -> arguments.map(_.sql).mkString(s"$name(", ", ", ")"),
          "expected" -> s"$name()"))
    }

  /** The name of the kind in a column. A result without kinds has `+I`. */
  private[changelog] def nameOf(kind: Option[Expression]): Expression = kind match {
    case None => Literal(inserted, StringType)
    case Some(number) =>
      val branches = RowKind.names.indices.init.map { k =>
        (EqualTo(number, Literal(k.toByte)), text(k))
      }
      CaseWhen(branches, Some(text(RowKind.names.size - 1)))
  }

  private def text(kind: Int): Expression = Cast(Literal(RowKind.names(kind)), StringType)
}
