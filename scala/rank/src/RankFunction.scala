package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.{DenseRank, Expression, Rank, RowNumber}

/**
 * The functions that number the rows of a key in order.
 *
 * For every row `DENSE_RANK() <= RANK() <= ROW_NUMBER()`. So a bound on a tighter function also
 * bounds every looser one: `rn <= 3` implies `rank <= 3`. `looseness` is the position in this
 * order.
 */
sealed abstract class RankFunction(val sqlName: String, val looseness: Int) extends Serializable {
  override def toString: String = sqlName
}

object RankFunction {
  case object RowNumbers extends RankFunction("ROW_NUMBER", 0)
  case object Ranks extends RankFunction("RANK", 1)
  case object DenseRanks extends RankFunction("DENSE_RANK", 2)

  /** The rank function that `expression` calls, if it is one. */
  def of(expression: Expression): Option[RankFunction] = expression match {
    case _: RowNumber => Some(RowNumbers)
    case _: Rank => Some(Ranks)
    case _: DenseRank => Some(DenseRanks)
    case _ => None
  }
}
