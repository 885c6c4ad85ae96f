package io.firesteel.panes

import io.firesteel.core.windows.PaneGrid
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{ConditionalExpression, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block.BlockHelper
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * The pane of a time of type TIMESTAMP or TIMESTAMP_NTZ. Rows are grouped by it.
 *
 * In ANSI mode Spark fails on a row if one of its windows leaves the range of a LONG. So near the
 * ends of the range this expression first computes Spark's bounds of those windows, which raise the
 * error.
 *
 * @param bounds the expressions to compute near the ends of the range; empty without ANSI mode
 */
case class PaneNumber(time: Expression, grid: PaneGrid, bounds: Seq[Expression])
  extends ConditionalExpression {

  override def children: Seq[Expression] = time +: bounds

  override def dataType: DataType = LongType

  override def nullable: Boolean = time.nullable

  override def prettyName: String = "pane"

  override def toString: String = s"$prettyName($time, $grid)"

  override def sql: String = s"$prettyName(${time.sql}, $grid)"

  // The bounds are computed for few rows, so they take no part in common subexpressions.
  override def alwaysEvaluatedInputs: Seq[Expression] = Seq(time)

  override def withNewAlwaysEvaluatedInputs(inputs: Seq[Expression]): PaneNumber =
    copy(time = inputs.head)

  override def branchGroups: Seq[Seq[Expression]] = Nil

  private val far = grid.size + 2 * grid.slide
  private val (low, high) = (Long.MinValue + far, Long.MaxValue - far)

  override def eval(input: InternalRow): Any = time.eval(input) match {
    case micros: Long =>
      if (micros < low || micros > high) bounds.foreach(_.eval(input))
      grid.paneOf(micros)
    case _ => null
  }

  // PaneGrid.paneOf with constant parameters: the JIT compiler divides faster by constants.
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val (micros, computed) = (time.genCode(ctx), bounds.map(_.genCode(ctx).code))
    val (since, slides) = (ctx.freshName("since"), ctx.freshName("slides"))
    val pane =
      if (grid.rest == 0) slides
      else s"$slides * 2L + ($since - $slides * ${grid.slide}L < ${grid.rest}L ? 0L : 1L)"
    val check =
      if (bounds.isEmpty) ""
      else
        s"if (${micros.value} < ${low}L || ${micros.value} > ${high}L) { ${computed.mkString("\n")} }"
    ev.copy(code = code"""
      ${micros.code}
      boolean ${ev.isNull} = ${micros.isNull};
      long ${ev.value} = -1L;
      if (!${ev.isNull}) {
        $check
        long $since = ${micros.value} - ${grid.start}L;
        long $slides = java.lang.Math.floorDiv($since, ${grid.slide}L);
        ${ev.value} = $pane;
      }""")
  }

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): PaneNumber =
    copy(time = newChildren.head, bounds = newChildren.tail)
}
