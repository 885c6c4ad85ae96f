package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, AttributeReference, EqualNullSafe, EqualTo, Expression, ExprId, GreaterThan, GreaterThanOrEqual, In, InSet, IntegerLiteral, LessThan, LessThanOrEqual, Literal, Or}

/**
 * The bound `function() <= limit`, which every row that passes a filter satisfies.
 *
 * @param limit at least 1, in rows (`ROW_NUMBER`, `RANK`) or distinct order values (`DENSE_RANK`)
 *   per key
 */
final case class RankBound(function: RankFunction, limit: Int) {
  override def toString: String = s"$function() <= $limit"

  /** Both hold, so either one is sound. The one that is expected to keep fewer rows is taken. */
  private def and(other: RankBound): RankBound =
    Seq(this, other).minBy(its => (its.expectedRows, its.function.looseness))

  private def expectedRows: Long =
    if (function == RankFunction.RowNumbers) limit.toLong else limit * RankBound.rowsPerPlace

  /** At least one holds, so the looser function is bounded by the larger limit. */
  private def or(other: RankBound): RankBound =
    RankBound(Seq(function, other.function).maxBy(_.looseness), limit.max(other.limit))
}

object RankBound {

  /**
   * A guess of how many rows share a place of `RANK` or `DENSE_RANK`, which bound no rows that tie.
   * It is large, because a bound of rows is safe: with many ties the other one keeps all rows.
   */
  private val rowsPerPlace = 64L

  /**
   * The constant upper bound that `condition` sets on rank columns, if there is one.
   *
   * It reads the forms that Spark reads (`<=`, `<`, `=`, either operand first). It also reads `IN`,
   * `<=>` and disjunctions with a bound in every branch.
   */
  def of(condition: Expression, ranks: Map[ExprId, RankFunction]): Option[RankBound] = {
    def known(e: Expression): Option[RankFunction] = e match {
      case a: AttributeReference => ranks.get(a.exprId)
      case _ => None
    }
    def bound(e: Expression, limit: Long): Option[RankBound] =
      known(e).map(RankBound(_, limit.max(1L).toInt))

    condition match {
      case And(left, right) =>
        (of(left, ranks) ++ of(right, ranks)).reduceOption(_ and _)
      case Or(left, right) =>
        of(left, ranks).flatMap(l => of(right, ranks).map(l.or))
      case LessThanOrEqual(e, IntegerLiteral(n)) => bound(e, n)
      case GreaterThanOrEqual(IntegerLiteral(n), e) => bound(e, n)
      case LessThan(e, IntegerLiteral(n)) => bound(e, n - 1L)
      case GreaterThan(IntegerLiteral(n), e) => bound(e, n - 1L)
      case EqualTo(e, IntegerLiteral(n)) => bound(e, n)
      case EqualTo(IntegerLiteral(n), e) => bound(e, n)
      case EqualNullSafe(e, IntegerLiteral(n)) => bound(e, n)
      case EqualNullSafe(IntegerLiteral(n), e) => bound(e, n)
      case In(e, list) if list.forall(_.isInstanceOf[Literal]) =>
        largest(list.map(_.asInstanceOf[Literal].value)).flatMap(bound(e, _))
      case InSet(e, set) => largest(set.toSeq).flatMap(bound(e, _))
      case _ => None
    }
  }

  /** Whether every row within `bound` satisfies `condition`, so that no filter has to check it. */
  def implies(bound: RankBound, condition: Expression, rank: Attribute): Boolean = {
    val isRank = (e: Expression) => e.semanticEquals(rank)
    condition match {
      case LessThanOrEqual(e, IntegerLiteral(n)) => isRank(e) && n == bound.limit
      case GreaterThanOrEqual(IntegerLiteral(n), e) => isRank(e) && n == bound.limit
      case LessThan(e, IntegerLiteral(n)) => isRank(e) && n - 1L == bound.limit
      case GreaterThan(IntegerLiteral(n), e) => isRank(e) && n - 1L == bound.limit
      case EqualTo(e, IntegerLiteral(1)) => isRank(e) && bound.limit == 1
      case EqualTo(IntegerLiteral(1), e) => isRank(e) && bound.limit == 1
      case _ => false
    }
  }

  /** The largest integer. NULL matches no row. Without any integer the bound is 1. */
  private def largest(values: Seq[Any]): Option[Long] = {
    val numbers = values.collect { case n: Int => n.toLong }
    if (numbers.length + values.count(_ == null) == values.length) {
      Some(numbers.maxOption.getOrElse(1L))
    } else None
  }
}
