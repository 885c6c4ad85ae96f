package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.{ExistenceJoin, FullOuter, JoinType, LeftAnti, LeftOuter, LeftSemi}

/** The columns of a join: those of a side that may be missing are nullable, as in Spark's own. */
private[changelog] object JoinOutput {

  def apply(joinType: JoinType, left: Seq[Attribute], right: Seq[Attribute]): Seq[Attribute] =
    joinType match {
      case LeftSemi | LeftAnti => left
      case join: ExistenceJoin => left :+ join.exists
      case LeftOuter => left ++ nullable(right)
      case FullOuter => nullable(left) ++ nullable(right)
      case _ => left ++ right
    }

  /** The name of a join. Spark has none for `EXISTS` as a value. */
  def name(joinType: JoinType): String = joinType match {
    case _: ExistenceJoin => "EXISTS"
    case other => other.sql
  }

  private def nullable(columns: Seq[Attribute]) = columns.map(_.withNullability(true))
}
