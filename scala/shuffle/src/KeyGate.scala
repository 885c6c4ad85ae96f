package io.firesteel.shuffle

import io.firesteel.core.decide.Decline
import java.time.Duration

import scala.math.BigDecimal.RoundingMode

import com.github.benmanes.caffeine.cache.{Cache, Caffeine}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.internal.SQLConf

/**
 * Decides whether rows may be spread by fewer keys: only if the keys have many values for each
 * partition, and no value has too many rows. Unknown facts count as bad.
 */
private[shuffle] final class KeyGate(session: SparkSession, sample: KeySample) {

  // Adaptive execution asks again with each new plan. Without their stages these plans are equal,
  // ids of columns included. They are compared as they are: canonicalising them would take longer
  // than all the rest here.
  private val estimated = remembered[(LogicalPlan, Seq[Expression]), KeyFacts]()
  private val frequent = remembered[(LogicalPlan, Seq[Expression]), KeyFacts]()
  private val sizes = remembered[LogicalPlan, BigInt]()
  private val rates = remembered[(LogicalPlan, Seq[Expression]), Double]()

  private def remembered[Asked, Known](): Cache[Asked, Option[Known]] =
    Caffeine.newBuilder().maximumSize(100).expireAfterWrite(Duration.ofMinutes(10)).build()

  /**
   * Why a shuffle should keep its keys.
   *
   * @param isFree whether adaptive execution may choose the number of its partitions
   * @param sparesGroups whether the removed shuffle has groups by these keys
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
                "the statistics have no histogram, and the most frequent value is unknown"
              Some(ShuffleDecline.UnknownKeys(namesOf(change), s"$histograms; $why"))
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
   * With the same keys the rows are as uneven as before, wherever they go. But if the other input
   * of a join stays in the layout of a table, adaptive execution cannot split a large partition.
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
   * Whether groups are shuffled. A value that is frequent among the rows does not have more groups
   * for that, and a window by these keys alone needs them in one task in any case.
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

  /** If each value is a partition, an even distribution gives each value one mean. */
  private def largestShare(layout: Layout, partitions: Int): Double = {
    val share = SQLConf.get.getConf(ShuffleConf.MAX_KEY_SHARE)
    (if (layout.isByValue) 1 + share else share) / partitions
  }

  /**
   * The number of partitions that adaptive execution will leave: one for each advisory size, and at
   * least as many as tasks that run at a time. With dynamic allocation that number is not known.
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
   * Why an input should not decide the layout of the other one: it would keep few tasks busy, or
   * one too long, or the cost of bringing rows to it exceeds what it saves.
   *
   * @param brought the shuffles that bring rows to it
   */
  def objection(input: Input, brought: Seq[Coarsened]): Option[Decline] = {
    val keys = input.keys.map(_.sql).mkString(", ")
    val running = session.sparkContext.defaultParallelism
    // With dynamic allocation few executors may have started yet.
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
   * A hash shuffle is compiled code. For a table with a layout of its own Spark's partitioner
   * searches for each row's partition. That costs about half of what it saves to leave a row of the
   * table in place (`build/bench shuffle --case stored`). A table of unknown size counts as small.
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
   * Why the input of a join should be measured by a shuffle: only then does adaptive execution
   * learn that a broadcast is possible. Groups above several joins may be dozens where Spark
   * estimates millions.
   */
  def objection(
      keys: Seq[Expression],
      leftOut: Seq[SparkPlan]): Option[Decline] = {
    val conf = SQLConf.get
    val threshold = conf.getConf(SQLConf.ADAPTIVE_AUTO_BROADCASTJOIN_THRESHOLD)
      .getOrElse(conf.autoBroadcastJoinThreshold)
    val bound = BigInt(threshold) * KeyGate.estimateTooHigh
    if (isAnythingAllowed || !conf.adaptiveExecutionEnabled || threshold <= 0) None
    else {
      val bytes = leftOut.map(linkOf(_).flatMap(estimatedBytes))
      // One small input is enough for a broadcast.
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
   * Statistics of an input whose rows are rows of its sources. They say nothing of groups. Each of
   * several columns that are equal since a join has the statistics of its own table: the largest
   * share counts.
   */
  private def ofRows(input: Input): Option[KeyFacts] =
    linkOf(input.plan).map(Unstaged(_)).filterNot(_.exists(_.isInstanceOf[Aggregate])).flatMap {
      rows =>
        (input.keys +: namesIn(input.plan)).distinct
          .flatMap(keys =>
            frequent.get((rows, keys), _ => KeyStatistics.mostFrequent(rows, keys)))
          .maxByOption(_.largestShare)
    }

  /** The keys that rows are spread by, under all of their names down to the next shuffles. */
  private def namesIn(plan: SparkPlan): Seq[Seq[Expression]] = plan match {
    case _: Exchange | _: QueryStageExec => Nil
    case _ =>
      Partitionings.of(plan).collect {
        case HashPartitioning(keys, _) => keys
      } ++ plan.children.flatMap(namesIn)
  }

  private def isDynamic: Boolean =
    session.sparkContext.getConf.getBoolean("spark.dynamicAllocation.enabled", false)

  private def isAnythingAllowed: Boolean =
    SQLConf.get.getConf(ShuffleConf.MIN_KEYS_PER_PARTITION) == 0.0

  /** The facts that allowed the changes, for `firesteel.explain`. */
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

  /** Facts from the rows of a shuffle that has run, or of the source. */
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
   * Fewest groups of the removed shuffle for each row of the other one. Measured by the cases
   * `keys-10` and on of `build/bench shuffle`: with 0.01 nothing is gained even if rows are even;
   * with 0.1 the gain is 4 to 16 % if they are slightly uneven.
   */
  val groupsWorthSparing = 0.05

  /** Spark's estimates may be too low by this factor: estimates of joins are rough. */
  val estimateTooLow = 8

  /**
   * Spark's estimates may be too high by at least this factor: in TPC-DS q64 it is two thousand.
   */
  val estimateTooHigh = 8

  /**
   * An input may have this many times the partitions that adaptive execution would leave. A task of
   * few rows takes milliseconds, about as long as the saved shuffle takes for a megabyte.
   */
  val manyTimes = 8
}
