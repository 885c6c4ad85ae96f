package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.{Add, Alias, Ascending, Attribute, DenseRank, EvalMode, Expression, ExprId, Literal, Rank, RowNumber, SortOrder, Subtract, WindowExpression}
import org.apache.spark.sql.execution.window.WindowExecBase
import org.apache.spark.sql.firesteel.{evalModeOf, CastOf}
import org.apache.spark.sql.types.{IntegerType, LongType}

/**
 * The order of `ROW_NUMBER`, `RANK` and `DENSE_RANK`: within a partition of the window the numbers
 * never decrease, also after adding a constant.
 */
private[shuffle] object RankColumn {

  /**
   * Whether rows of a window are ordered by its partitions, then a rank, then columns that are
   * equal where ranks are.
   *
   * @param isInputOf whether the window's input has an order
   */
  def isInOrder(window: WindowExecBase, order: Seq[SortOrder])(
      isInputOf: Seq[SortOrder] => Boolean): Boolean = {
    val ranks = ranksOf(window)
    val place = order.indexWhere(by => rankIn(by.child).exists(ranks.contains))
    place >= 0 && {
      val (before, by, behind) = (order.take(place), order(place), order.drop(place + 1))
      def isAmong(key: Expression, keys: Seq[SortOrder]) =
        keys.exists(known => KnownOrder.areSame(window, known.child, key))
      // If equal strings have different bytes, a window starts a new partition at each.
      by.direction == Ascending &&
      window.partitionSpec.forall(key =>
        ExactColumn.isExact(key.dataType) && isAmong(key, before)) &&
      isInputOf(before) &&
      (rankIn(by.child).map(ranks).exists(_.isInstanceOf[RowNumber]) ||
        behind.forall(next => isAmong(next.child, before ++ window.orderSpec)))
    }
  }

  /** Whether the expression may be a rank: one column plus a constant. */
  def mayBeRank(expression: Expression): Boolean = shifted(expression).isDefined

  private def ranksOf(window: WindowExecBase): Map[ExprId, Expression] =
    window.windowExpression.collect {
      case alias @ Alias(WindowExpression(rank @ (_: RowNumber | _: Rank | _: DenseRank), _), _) =>
        alias.exprId -> rank
    }.toMap

  /**
   * The column, if the expression is that column, a widening of it, or its sum with a constant that
   * cannot wrap around.
   */
  private def rankIn(expression: Expression): Option[ExprId] = shifted(expression).map(_._1)

  /** The column and the constant added to it. */
  private def shifted(expression: Expression): Option[(ExprId, BigInt)] = expression match {
    case column: Attribute => Some(column.exprId -> BigInt(0))
    case CastOf(number) if expression.dataType == LongType && number.dataType == IntegerType =>
      shifted(number)
    case sum: Add =>
      (sum.left, sum.right) match {
        case (number, Whole(more)) => added(sum, number, more)
        case (Whole(more), number) => added(sum, number, more)
        case _ => None
      }
    case difference: Subtract =>
      Whole.unapply(difference.right).flatMap(less => added(difference, difference.left, -less))
    case _ => None
  }

  private def added(
      sum: Expression,
      number: Expression,
      more: BigInt): Option[(ExprId, BigInt)] =
    shifted(number).map { case (column, before) => column -> (before + more) }.filter {
      case (_, all) => fits(sum, all) || failsIfTooLarge(sum)
    }

  private def fits(sum: Expression, added: BigInt): Boolean = sum.dataType match {
    case IntegerType => added >= Int.MinValue && added <= 0
    case LongType => added >= Long.MinValue && added <= Long.MaxValue - Int.MaxValue
    case _ => false
  }

  private def failsIfTooLarge(sum: Expression): Boolean = sum match {
    case add: Add => evalModeOf(add) == EvalMode.ANSI
    case subtract: Subtract => evalModeOf(subtract) == EvalMode.ANSI
    case _ => false
  }

  private object Whole {
    def unapply(expression: Expression): Option[BigInt] = expression match {
      case Literal(value: Int, IntegerType) => Some(BigInt(value))
      case Literal(value: Long, LongType) => Some(BigInt(value))
      case _ => None
    }
  }
}
