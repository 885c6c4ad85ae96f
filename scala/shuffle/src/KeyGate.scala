package io.firesteel.shuffle

import java.time.Duration

import scala.math.BigDecimal.RoundingMode

import com.github.benmanes.caffeine.cache.{Cache, Caffeine}
import io.firesteel.core.Decline
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.internal.SQLConf

/**
 * Whether rows may be spread by fewer keys: only where these have many values for each partition, and
 * none with too many rows. What is not known is not hoped for.
 */
private[shuffle] final class KeyGate(session: SparkSession, sample: KeySample) {

  // Adaptive execution asks again whenever it plans anew. Keys have the ids of one query, so that another
  // one sees statistics that were analysed since.
  private val estimated: Cache[(LogicalPlan, Seq[Expression]), Option[KeyFacts]] =
    Caffeine.newBuilder().maximumSize(100).expireAfterWrite(Duration.ofMinutes(10)).build()

  /** Why a shuffle had better keep its keys. */
  def objection(change: Coarsened): Option[Decline] =
    if (isAnythingAllowed) None
    else factsOf(change) match {
      case Left(why) => Some(ShuffleDecline.UnknownKeys(namesOf(change), why))
      case Right(facts) =>
        val partitions = change.partitions
        val bound =
          (BigDecimal(SQLConf.get.getConf(ShuffleConf.MIN_KEYS_PER_PARTITION)) * partitions)
            .setScale(0, RoundingMode.CEILING)
            .toBigInt
        val largest = SQLConf.get.getConf(ShuffleConf.MAX_KEY_SHARE) / partitions
        if (facts.distinct < bound)
          Some(ShuffleDecline.FewKeys(namesOf(change), facts, partitions, bound))
        else if (facts.largestShare.exists(_ > largest))
          Some(ShuffleDecline.LargeKey(namesOf(change), facts, largest))
        else None
    }

  /** Why an input had better not decide for the other: it would keep few tasks busy, or one too long. */
  def objection(input: Input): Option[Decline] = {
    val keys = input.keys.map(_.sql).mkString(", ")
    val tasks = session.sparkContext.defaultParallelism
    val share = SQLConf.get.getConf(ShuffleConf.MAX_KEY_SHARE)
    if (isAnythingAllowed) None
    else if (input.partitions < tasks)
      Some(ShuffleDecline.FewPartitions(keys, input.partitions, tasks))
    else
      input.largestShare
        .filter(_ > (1 + share) / input.partitions)
        .map(ShuffleDecline.LargeBucket(keys, _, (1 + share) / input.partitions))
  }

  private def isAnythingAllowed: Boolean =
    SQLConf.get.getConf(ShuffleConf.MIN_KEYS_PER_PARTITION) == 0.0

  /** What let the changes pass, for the author of the query. */
  def evidence(changes: Seq[Coarsened]): Map[String, String] =
    if (isAnythingAllowed)
      Map("source" -> s"${ShuffleConf.MIN_KEYS_PER_PARTITION.key} is 0")
    else
      changes.flatMap(factsOf(_).toOption).minByOption(_.distinct).fold(Map.empty[String, String]) {
        facts =>
          Map("distinct" -> facts.distinct.toString, "source" -> facts.source) ++
            facts.largestShare.map(share => "largest share" -> f"$share%.4f")
      }

  private def factsOf(change: Coarsened): Either[String, KeyFacts] = {
    val input = change.shuffle.child
    val known = input.logicalLink.flatMap { plan =>
      estimated.get((plan.canonicalized, change.keys), _ => KeyStatistics.of(plan, change.keys))
    }
    known.orElse(FinishedShuffle.facts(change)).map(Right(_)).getOrElse(sample.of(
      input,
      keysOf(change),
      change.keys))
  }

  private def keysOf(change: Coarsened): Seq[Expression] =
    change.shuffle.outputPartitioning match {
      case HashPartitioning(keys, _) => keys
      case _ => change.keys
    }

  private def namesOf(change: Coarsened): String = change.keys.map(_.sql).mkString(", ")
}
