package io.firesteel.lookup

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.connector.expressions.filter.{Predicate => PushedPredicate}
import org.apache.spark.sql.firesteel.pushedPredicate

/**
 * A JVM connector under its name in the query.
 *
 * The table stays on the driver: operators above may serialize the whole plan to their tasks.
 */
private[lookup] final case class LookupSource(name: String, @transient table: SupportsLookup) {

  /** The filters that the connector may use. The join applies all filters to the answers. */
  def pushed(filters: Option[Expression]): Array[PushedPredicate] =
    filters.toSeq.flatMap(conjuncts).filter(_.deterministic).flatMap(pushedPredicate).toArray

  private def conjuncts(condition: Expression): Seq[Expression] = condition match {
    case And(a, b) => conjuncts(a) ++ conjuncts(b)
    case one => Seq(one)
  }

  // The table is a live object of a catalog, and its text may contain options such as a password.
  override def toString: String = name
}

/** The distribution of rows to tasks, and its reason. */
private[lookup] sealed trait ShuffleDecision extends Serializable {

  /** As the plan and `firesteel.explain` show it. */
  def text: String

  def customPartitions: Option[Int] = None
}

private[lookup] object ShuffleDecision {

  /** By the connector's partitioner. */
  final case class Custom(partitioner: String, partitions: Int) extends ShuffleDecision {
    override def text: String = s"custom: $partitioner into $partitions"
    override def customPartitions: Option[Int] = Some(partitions)
  }

  /** By hash of the keys. */
  final case class Hash(why: String) extends ShuffleDecision {
    override def text: String = s"hash: $why"
  }

  /** The input keeps its distribution. */
  final case class Unchanged(why: String) extends ShuffleDecision {
    override def text: String = s"none: $why"
  }
}
