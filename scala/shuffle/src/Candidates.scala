package io.firesteel.shuffle

import java.util.IdentityHashMap

import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.joins.ShuffledJoin

/**
 * The candidates of a plan and of what becomes of it. A candidate is dear, and depends on nothing but
 * its node and what is below: that of a node which stays in the plan is made once.
 */
final private[shuffle] class Candidates {

  private val made = new IdentityHashMap[SparkPlan, Option[Candidate]]

  /** All of a plan, the uppermost first, but for those at these places. */
  def of(plan: SparkPlan, refused: Seq[SparkPlan] = Nil): Iterator[Candidate] =
    plan.collect { case node @ (_: ShuffleExchangeExec | _: ShuffledJoin) => node }.iterator
      .filterNot(node => refused.exists(_ eq node))
      .flatMap(node => made.computeIfAbsent(node, Candidate.at(_)))

  /** A candidate, first, and those that change equal shuffles as it does. */
  def alike(plan: SparkPlan, candidate: Candidate): Seq[Candidate] =
    if (!isRepeated(plan, candidate.changed)) Seq(candidate)
    else candidate +: of(plan).filter { other =>
      (other.place ne candidate.place) && other.canonicalChange == candidate.canonicalChange
    }.toSeq

  /** Whether a plan has equals of these shuffles, each of them: few have. */
  private def isRepeated(plan: SparkPlan, changed: Seq[Coarsened]): Boolean = {
    lazy val all = plan.collect { case shuffle: ShuffleExchangeExec => shuffle.canonicalized }
    changed.nonEmpty && changed.forall { change =>
      all.count(_ == change.shuffle.canonicalized) > 1
    }
  }
}
