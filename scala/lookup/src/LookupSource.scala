package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.connector.expressions.filter.{Predicate => PushedPredicate}
import org.apache.spark.sql.firesteel.pushedPredicate

/**
 * A connector of the JVM under the name that the query knows it by.
 *
 * The table stays on the driver: operators above may ship the whole plan to their tasks.
 */
private[lookup] final case class LookupSource(name: String, @transient table: SupportsLookup) {

  /** What of the filters the connector may see; all of them are applied to its answers anyway. */
  def pushed(filters: Option[Expression]): Array[PushedPredicate] =
    filters.toSeq.flatMap(conjuncts).filter(_.deterministic).flatMap(pushedPredicate).toArray

  private def conjuncts(condition: Expression): Seq[Expression] = condition match {
    case And(a, b) => conjuncts(a) ++ conjuncts(b)
    case one => Seq(one)
  }

  // The table is a live object of a catalog; its own text may hold what its options hold.
  override def toString: String = name
}

/** Which task looks up which key, and why. */
private[lookup] sealed trait ShuffleDecision extends Serializable {

  /** As the plan and `firesteel.explain` show it. */
  def text: String

  def customPartitions: Option[Int] = None
}

private[lookup] object ShuffleDecision {

  /** The connector decides. */
  final case class Custom(partitioner: String, partitions: Int) extends ShuffleDecision {
    override def text: String = s"custom: $partitioner into $partitions"
    override def customPartitions: Option[Int] = Some(partitions)
  }

  /** By hash of the keys. */
  final case class Hash(why: String) extends ShuffleDecision {
    override def text: String = s"hash: $why"
  }

  /** The input stays as it is distributed. */
  final case class Unchanged(why: String) extends ShuffleDecision {
    override def text: String = s"none: $why"
  }
}
