package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.analysis.RelationTimeTravel
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.JoinType
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}

// Parts of Spark's case classes by name: their number and order change between versions.

/** What a cast converts. */
object CastOf {
  def unapply(expression: Expression): Option[Expression] = expression match {
    case cast: Cast => Some(cast.child)
    case _ => None
  }
}

/** A relation and its time; a relation by its version is none. */
object TravelInTime {
  def unapply(plan: LogicalPlan): Option[(LogicalPlan, Expression)] = plan match {
    case travel: RelationTimeTravel if travel.version.isEmpty =>
      travel.timestamp.map(time => (travel.relation, time))
    case _ => None
  }
}

/** A join by equal keys, as Spark reads it. */
final case class EquiJoin(
    joinType: JoinType,
    leftKeys: Seq[Expression],
    rightKeys: Seq[Expression],
    condition: Option[Expression])

object EquiJoin {
  def of(join: Join): Option[EquiJoin] = ExtractEquiJoinKeys.unapply(join).map { keys =>
    EquiJoin(keys._1, keys._2, keys._3, keys._4)
  }
}
