package io.firesteel.shuffle

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.FullOuter
import org.apache.spark.sql.catalyst.plans.physical.{CoalescedHashPartitioning, HashPartitioning, Partitioning, PartitioningCollection, UnknownPartitioning}
import org.apache.spark.sql.execution.{InputAdapter, SparkPlan, WholeStageCodegenExec}
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * Declares the partitioning of a full outer join, which Spark does not report, and changes no row.
 * Each of `keys` is a [[MergedKey]] of two keys of the join; rows are spread by it as the two sides
 * are by their keys.
 */
private[shuffle] final case class MergedKeysExec(keys: Seq[Expression], child: SparkPlan)
  extends PassesRows {

  override def outputPartitioning: Partitioning = {
    val known = compiled(child) match {
      case join: ShuffledJoin if join.joinType == FullOuter && !join.isSkewJoin =>
        val ways = for {
          left <- waysOf(join.left.outputPartitioning)
          right <- waysOf(join.right.outputPartitioning)
          both <- (left, right) match {
            case (left: HashPartitioning, right: HashPartitioning) => merged(join, left, right)
            case (left: CoalescedHashPartitioning, right: CoalescedHashPartitioning)
                if left.partitions == right.partitions =>
              merged(join, left.from, right.from)
                .map(CoalescedHashPartitioning(_, left.partitions))
            case _ => None
          }
        } yield both
        ways.headOption
      case _ => None
    }
    known.getOrElse(UnknownPartitioning(child.outputPartitioning.numPartitions))
  }

  /** A union above asks again while the plan runs, when the join is inside compiled code. */
  @tailrec
  private def compiled(plan: SparkPlan): SparkPlan = plan match {
    case InputAdapter(input) => compiled(input)
    case WholeStageCodegenExec(input) => compiled(input)
    case other => other
  }

  private def waysOf(partitioning: Partitioning): Seq[Partitioning] = partitioning match {
    case PartitioningCollection(ways) => ways.flatMap(waysOf)
    case way => Seq(way)
  }

  private def merged(
      join: ShuffledJoin,
      left: HashPartitioning,
      right: HashPartitioning): Option[HashPartitioning] = {
    val found = left.expressions.zip(right.expressions).map { case (one, other) =>
      join.leftKeys.zip(join.rightKeys)
        .find { case (l, r) => l.semanticEquals(one) && r.semanticEquals(other) }
        .flatMap { case (l, r) => keys.find(MergedKey.isOf(_, l, r)) }
    }
    val areAlike = left.numPartitions == right.numPartitions &&
      left.expressions.size == right.expressions.size
    if (areAlike && found.forall(_.isDefined))
      Some(HashPartitioning(found.flatten, left.numPartitions))
    else None
  }

  override protected def withNewChildInternal(newChild: SparkPlan): MergedKeysExec =
    copy(child = newChild)
}
