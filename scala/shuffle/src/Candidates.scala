package io.firesteel.shuffle

import java.util.IdentityHashMap

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * The candidates of a plan and of its later versions. A candidate is expensive to find and depends
 * only on its node and the plan below. So it is computed once for a node that stays in the plan.
 */
final private[shuffle] class Candidates {

  private val made = new IdentityHashMap[SparkPlan, Option[Candidate]]

  /** All candidates of a plan, the uppermost first, except at the `refused` nodes. */
  def of(plan: SparkPlan, refused: Seq[SparkPlan] = Nil): Iterator[Candidate] =
    plan.collect { case node @ (_: ShuffleExchangeExec | _: ShuffledJoin) => node }.iterator
      .filterNot(node => refused.exists(_ eq node))
      .flatMap(node => made.computeIfAbsent(node, Candidate.at(_)))

  /** The candidate, and after it all others that change equal shuffles in the same way. */
  def alike(plan: SparkPlan, candidate: Candidate): Seq[Candidate] =
    if (!isRepeated(plan, candidate.changed)) Seq(candidate)
    else candidate +: of(plan).filter { other =>
      (other.place ne candidate.place) && other.canonicalChange == candidate.canonicalChange
    }.toSeq

  /** Whether each of these shuffles occurs more than once in the plan, which is rare. */
  private def isRepeated(plan: SparkPlan, changed: Seq[Coarsened]): Boolean = {
    lazy val all = plan.collect { case shuffle: ShuffleExchangeExec => shuffle.canonicalized }
    changed.nonEmpty && changed.forall { change =>
      all.count(_ == change.shuffle.canonicalized) > 1
    }
  }
}
