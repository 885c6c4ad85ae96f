package io.firesteel.shuffle

import io.firesteel.core.decide.Decline
import java.time.Duration

import scala.math.BigDecimal.RoundingMode

import com.github.benmanes.caffeine.cache.{Cache, Caffeine}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, PartitioningCollection}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeExec}
import org.apache.spark.sql.internal.SQLConf

/**
 * Whether rows may be spread by fewer keys: only where these have many values for each partition, and
 * none with too many rows. What is not known is not hoped for.
 */
private[shuffle] final class KeyGate(session: SparkSession, sample: KeySample) {

  // Adaptive execution asks again whenever it plans anew, of plans that are equal but for the stages that
  // have run, column by column: to make them alike first would take longer than all else here.
  private val estimated = remembered[(LogicalPlan, Seq[Expression]), KeyFacts]()
  private val frequent = remembered[(LogicalPlan, Seq[Expression]), KeyFacts]()
  private val sizes = remembered[LogicalPlan, BigInt]()
  private val rates = remembered[(LogicalPlan, Seq[Expression]), Double]()

  private def remembered[Asked, Known](): Cache[Asked, Option[Known]] =
    Caffeine.newBuilder().maximumSize(100).expireAfterWrite(Duration.ofMinutes(10)).build()

  /**
   * Why a shuffle had better keep its keys.
   *
   * @param isFree whether the number of its partitions is adaptive execution's to choose
   * @param sparesGroups whether what is left out is a shuffle of groups by these keys
   */
  def objection(change: Coarsened, isFree: Boolean, sparesGroups: Boolean): Option[Decline] = {
    def tooPoor(facts: KeyFacts) =
      this.tooPoor(change, facts, if (isFree) facts.bytes else None, sparesGroups)
    if (isAnythingAllowed) None
    else if (change.layout.uncounted.isDefined)
      change.layout.uncounted.map(ShuffleDecline.UnknownSizes(namesOf(change), _))
    else if (Hashed.sameKeys(keysOf(change), change.keys)) tooLarge(change)
    else statistics(change) match {
      case Some(facts) =>
        tooPoor(facts).orElse {
          if (facts.isShareKnown) None
          else seen(change) match {
            case Right(rows) => tooPoor(facts.copy(largestShare = rows.largestShare))
            case Left(_) if isOfGroups(change) => None
            case Left(why) =>
              val histograms =
                "the statistics have no histogram, so that the most frequent value is not known"
              Some(ShuffleDecline.UnknownKeys(namesOf(change), s"$histograms, and $why"))
          }
        }
      case None =>
        seen(change) match {
          case Right(rows) => tooPoor(rows)
          case Left(why) => Some(ShuffleDecline.UnknownKeys(namesOf(change), why))
        }
    }
  }

  /**
   * By the same keys rows are as uneven as they were, wherever they are brought to. But where the other
   * input of a join stays as a table has it, adaptive execution splits no partition that is too large.
   */
  private def tooLarge(change: Coarsened): Option[Decline] = change.layout match {
    case Hashed(_) => None
    case _ if isOfGroups(change) => None
    case stored =>
      val bound = largestShare(stored, stored.partitions)
      statistics(change).filter(_.isShareKnown).orElse(seen(change).toOption)
        .filter(_.largestShare > bound)
        .map(ShuffleDecline.LargeKey(namesOf(change), _, bound))
  }

  /**
   * Whether groups are shuffled: a value that is frequent in the rows has no more groups for that, and a
   * window above, by these keys alone, would get them in one task in any case.
   */
  private def isOfGroups(change: Coarsened): Boolean =
    change.shuffle.child.isInstanceOf[BaseAggregateExec]

  private def tooPoor(
      change: Coarsened,
      facts: KeyFacts,
      bytes: Option[BigInt],
      sparesGroups: Boolean): Option[Decline] = {
    val all = change.layout.partitions
    val partitions = bytes.fold(all)(partitionsLeft(all, _))
    val share = SQLConf.get.getConf(ShuffleConf.MAX_KEY_SHARE)
    val largest = largestShare(change.layout, partitions)
    val perPartition =
      if (change.layout.isByValue) 1 / (1 + share)
      else SQLConf.get.getConf(ShuffleConf.MIN_KEYS_PER_PARTITION)
    val bound =
      (BigDecimal(perPartition) * partitions).setScale(0, RoundingMode.CEILING).toBigInt
    if (facts.distinct < bound)
      Some(ShuffleDecline.FewKeys(namesOf(change), facts, partitions, bound))
    else if (facts.largestShare > largest)
      Some(ShuffleDecline.LargeKey(namesOf(change), facts, largest))
    else if (sparesGroups)
      groupRate(change, facts).map(_ * partitions).filter(_ < KeyGate.groupsWorthSparing)
        .map(ShuffleDecline.FewGroups(namesOf(change), facts, _, KeyGate.groupsWorthSparing))
    else None
  }

  /** Where a value is a partition, it has the mean of one if all are equal. */
  private def largestShare(layout: Layout, partitions: Int): Double = {
    val share = SQLConf.get.getConf(ShuffleConf.MAX_KEY_SHARE)
    (if (layout.isByValue) 1 + share else share) / partitions
  }

  /**
   * Partitions that adaptive execution will leave: one for each of its advisory size, and as many as tasks
   * can run at a time. Where executors come and go, how many that will be is not known yet.
   */
  private def partitionsLeft(partitions: Int, bytes: BigInt): Int = {
    val conf = SQLConf.get
    val context = session.sparkContext
    val isCoalesced =
      conf.adaptiveExecutionEnabled && conf.coalesceShufflePartitionsEnabled && !isDynamic
    if (!isCoalesced) partitions
    else {
      val advisory = conf.getConf(SQLConf.ADVISORY_PARTITION_SIZE_IN_BYTES)
      val ofSize = bytes * KeyGate.estimateTooLow / advisory + 1
      val fewest =
        conf.getConf(
          SQLConf.COALESCE_PARTITIONS_MIN_PARTITION_NUM).getOrElse(context.defaultParallelism)
      ofSize.max(BigInt(fewest)).min(BigInt(partitions)).toInt
    }
  }

  /**
   * Why an input had better not decide for the other: it would keep few tasks busy, or one too long, or
   * be brought more than it saves.
   *
   * @param brought the shuffles that bring rows to it
   */
  def objection(input: Input, brought: Seq[Coarsened]): Option[Decline] = {
    val keys = input.keys.map(_.sql).mkString(", ")
    val running = session.sparkContext.defaultParallelism
    // Where executors come and go, few of them may be there yet.
    val tasks =
      if (isDynamic) math.max(running, SQLConf.get.numShufflePartitions) else running
    val share = SQLConf.get.getConf(ShuffleConf.MAX_KEY_SHARE)
    lazy val bytes =
      (input.plan +: brought.map(_.shuffle.child)).flatMap(bytesOf(_)).sum
    lazy val left = partitionsLeft(input.layout.partitions, bytes)
    if (isAnythingAllowed) None
    else if (input.layout.partitions < tasks)
      Some(ShuffleDecline.FewPartitions(keys, input.layout.partitions, tasks))
    else if (input.layout.partitions > KeyGate.manyTimes * left)
      Some(ShuffleDecline.ManyPartitions(keys, input.layout.partitions, KeyGate.manyTimes * left))
    else if ((input.layout.isByValue || input.layout.uncounted.nonEmpty) &&
      input.largestShare.isEmpty)
      Some(ShuffleDecline.UnknownSizes(keys, input.layout.uncounted.getOrElse(keys)))
    else {
      val bound = (1 + share) / input.layout.partitions
      input.largestShare
        .filter(_ > bound)
        .map(ShuffleDecline.LargeBucket(keys, _, bound))
        .orElse(ofRows(input).filter(_.largestShare > bound)
          .map(ShuffleDecline.LargeKey(keys, _, bound)))
        .orElse(tooSmall(input, brought))
    }
  }

  /**
   * By hash rows are brought by compiled code. To a table that lies in its own way Spark's partitioner
   * brings them by a search for each, which costs about half of what it saves to leave a row of the table
   * where it is: by `build/bench shuffle --case stored`. What is not known to be large enough is not.
   */
  private def tooSmall(input: Input, brought: Seq[Coarsened]): Option[Decline] =
    input.layout match {
      case Hashed(_) => None
      case _ if brought.isEmpty => None
      case _ =>
        val unknown = BigInt(SQLConf.get.defaultSizeInBytes)
        val bytes = bytesOf(input.plan).filter(_ < unknown)
        val bound = brought.map(change => bytesOf(change.shuffle.child).getOrElse(unknown)).sum
        if (bytes.exists(_ >= bound)) None
        else Some(ShuffleDecline.SmallTable(input.keys.map(_.sql).mkString(", "), bytes, bound))
    }

  /**
   * Why what goes into a join had better be measured by a shuffle, which is when adaptive execution learns
   * that a broadcast will do. Groups above several joins may be some dozens where millions were estimated.
   *
   * @param leftOut the shuffles below the join that would go
   */
  def objection(
      keys: Seq[Expression],
      leftOut: Seq[ShuffleExchangeExec]): Option[Decline] = {
    val conf = SQLConf.get
    val threshold = conf.getConf(SQLConf.ADAPTIVE_AUTO_BROADCASTJOIN_THRESHOLD)
      .getOrElse(conf.autoBroadcastJoinThreshold)
    val bound = BigInt(threshold) * KeyGate.estimateTooHigh
    if (isAnythingAllowed || !conf.adaptiveExecutionEnabled || threshold <= 0) None
    else {
      val bytes = leftOut.map(shuffle => linkOf(shuffle.child).flatMap(estimatedBytes))
      // One that is small will do for a broadcast.
      if (bytes.forall(_.exists(_ > bound))) None
      else {
        val known = if (bytes.contains(None)) None else bytes.flatten.minOption
        Some(ShuffleDecline.SmallInput(keys.map(_.sql).mkString(", "), known, bound))
      }
    }
  }

  private def estimatedBytes(link: LogicalPlan): Option[BigInt] =
    sizes.get(Unstaged(link), plan => KeyStatistics.bytes(plan))

  private def linkOf(plan: SparkPlan): Option[LogicalPlan] =
    plan.find(_.logicalLink.isDefined).flatMap(_.logicalLink)

  private def bytesOf(plan: SparkPlan): Option[BigInt] =
    linkOf(plan).map(_.stats.sizeInBytes)

  /**
   * What statistics say of an input whose rows are those of its sources: of groups they say nothing. Of
   * columns that are equal since a join each knows its own table; the most frequent value of any counts.
   */
  private def ofRows(input: Input): Option[KeyFacts] =
    linkOf(input.plan).map(Unstaged(_)).filterNot(_.exists(_.isInstanceOf[Aggregate])).flatMap {
      rows =>
        (input.keys +: namesIn(input.plan)).distinct
          .flatMap(keys =>
            frequent.get((rows, keys), _ => KeyStatistics.mostFrequent(rows, keys)))
          .maxByOption(_.largestShare)
    }

  /** The keys by which rows lie, under all of their names down to the shuffles. */
  private def namesIn(plan: SparkPlan): Seq[Seq[Expression]] = plan match {
    case _: Exchange | _: QueryStageExec => Nil
    case _ =>
      PartitioningCollection.flatten(plan.outputPartitioning).collect {
        case HashPartitioning(keys, _) => keys
      } ++ plan.children.flatMap(namesIn)
  }

  private def isDynamic: Boolean =
    session.sparkContext.getConf.getBoolean("spark.dynamicAllocation.enabled", false)

  private def isAnythingAllowed: Boolean =
    SQLConf.get.getConf(ShuffleConf.MIN_KEYS_PER_PARTITION) == 0.0

  /** What let the changes pass, for the author of the query. */
  def evidence(changes: Seq[Coarsened]): Map[String, String] =
    if (isAnythingAllowed)
      Map("source" -> s"${ShuffleConf.MIN_KEYS_PER_PARTITION.key} is 0")
    else
      changes.flatMap(known).minByOption(_.distinct).fold(Map.empty[String, String]) { facts =>
        Map("distinct" -> facts.distinct.toString, "source" -> facts.source) ++
          (if (facts.largestShare > 0) Map("largest share" -> f"${facts.largestShare}%.4f")
           else Map.empty)
      }

  private def groupRate(change: Coarsened, facts: KeyFacts): Option[Double] =
    facts.groupRate.orElse(change.shuffle.child.logicalLink.map(Unstaged(_)).flatMap { plan =>
      rates.get((plan, change.keys), _ => KeyStatistics.groupRate(plan, change.keys))
    })

  private def known(change: Coarsened): Option[KeyFacts] =
    statistics(change).orElse(seen(change).toOption)

  private def statistics(change: Coarsened): Option[KeyFacts] =
    change.shuffle.child.logicalLink.map(Unstaged(_)).flatMap { plan =>
      estimated.get((plan, change.keys), _ => KeyStatistics.of(plan, change.keys))
    }

  /** What rows of a shuffle that has run, or of the source, show. */
  private def seen(change: Coarsened): Either[String, KeyFacts] =
    FinishedShuffle.facts(change).map(Right(_)).getOrElse(
      sample.of(change.shuffle.child, keysOf(change), change.keys))

  private def keysOf(change: Coarsened): Seq[Expression] =
    change.shuffle.outputPartitioning match {
      case HashPartitioning(keys, _) => keys
      case _ => change.keys
    }

  private def namesOf(change: Coarsened): String = change.keys.map(_.sql).mkString(", ")
}

private object KeyGate {

  /**
   * Groups that a left-out shuffle must have for each row of the other, by `build/bench shuffle --case keys-10 …`:
   * with a hundredth nothing is gained if rows are even, with a tenth 4 to 16 % if they are not quite.
   */
  val groupsWorthSparing = 0.05

  /** So many times too low an estimate of Spark's may be: of joins they are rough. */
  val estimateTooLow = 8

  /** So many times too high it may be at least: of TPC-DS q64 it is two thousand times. */
  val estimateTooHigh = 8

  /**
   * As many times the partitions that adaptive execution would leave, an input may have: a task of some rows
   * takes milliseconds, the shuffle that is saved about as long for a megabyte.
   */
  val manyTimes = 8
}
