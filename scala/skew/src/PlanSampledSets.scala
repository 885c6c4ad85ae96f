package io.firesteel.skew

import io.firesteel.core.decide.{Decisions, Decline}
import io.firesteel.core.plans.SourceSample
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.internal.SQLConf

/**
 * Plans `collect_set` in two phases if a sample of the source shows few groups, or one group with
 * half of the rows, and statistics do not show it.
 *
 * Unlike `DISTINCT` this is decided in the planner: by then partitions are pruned, and Spark does
 * not rewrite a set. Adaptive execution plans again until a part has run; the sample is kept.
 */
final class PlanSampledSets(session: SparkSession) extends SparkStrategy {
  import PlanSampledSets._

  private val samples = new SourceSample(session)

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case aggregate: Aggregate if !isOff =>
      tooMany(aggregate).flatMap(judged(aggregate, _)).toSeq
    case _ => Nil
  }

  private def isOff: Boolean = Decline.switchedOff("skew", SkewConf.ENABLED).isDefined

  /** The objection, if it is only that statistics show too many groups or that there are none. */
  private def tooMany(aggregate: Aggregate): Option[SkewDecline.ManyGroups] =
    DistinctQuery.of(aggregate).flatMap(_.refusal).collect { case why: SkewDecline.ManyGroups =>
      why
    }

  private def judged(aggregate: Aggregate, why: SkewDecline.ManyGroups): Option[SparkPlan] = {
    val forced = DistinctQuery
      .of(aggregate.copy(hint = Some(PhasesHint.TwoPhase(None))))
      .filter(_.refusal.isEmpty)
    forced.flatMap { query =>
      val facts = sampled(aggregate)
      if (facts.exists(known => known.groups <= why.max || known.largestShare >= hotShare)) {
        Decisions.fire(aggregate, PlanDistinctAggregate.ruleName)
        Some(PlanDistinctAggregate.planned(query))
      } else {
        val known = facts.left.flatMap(reason => why.groups.left.map(_ => reason))
        Decisions.decline(
          aggregate,
          PlanDistinctAggregate.ruleName,
          SkewDecline.ManyGroups(known, why.max))
        None
      }
    }
  }

  private def sampled(aggregate: Aggregate): Either[String, GroupFacts] = {
    val keys = aggregate.groupingExpressions.map {
      case Alias(key, _) => key
      case key => key
    }
    val least = BigInt(SQLConf.get.getConf(SkewConf.SAMPLE_MIN_SIZE))
    samples.of(aggregate.child, Seq(keys), sampleRows, least).map { sampled =>
      val rows = sampled.hashes.head
      val sizes = rows.groupMapReduce(identity)(_ => 1)(_ + _).values
      GroupFacts(sizes.size, sizes.max.toDouble / rows.length)
    }
  }
}

private[skew] object PlanSampledSets {
  private val sampleRows = 40000

  /** A group with this share of the rows keeps one task busy while the others wait. */
  private val hotShare = 0.5
}

/**
 * Facts about the groups of an aggregate.
 *
 * @param largestShare share of the rows in the largest group, from 0 to 1; 0 if unknown
 */
private[skew] final case class GroupFacts(groups: BigInt, largestShare: Double)
