package io.firesteel.shuffle

import io.firesteel.core.decide.Decline
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, SortOrder}
import org.apache.spark.sql.catalyst.expressions.aggregate.PartialMerge
import org.apache.spark.sql.catalyst.plans.logical.Sort
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ProjectExec, SortExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.QueryStageExec
import org.apache.spark.sql.execution.aggregate.{BaseAggregateExec, HashAggregateExec, SortAggregateExec}
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec
import org.apache.spark.sql.execution.exchange.{Exchange, ShuffleExchangeExec}

/**
 * Plans an adaptive local aggregate below a shuffle if a sample of the source has few rows with
 * equal keys. Spark's partial aggregate then costs a hash table or a sort, and emits nearly as many
 * rows as it reads.
 */
final private[shuffle] class AdaptLocalAggregates(sample: KeySample) extends Rule[SparkPlan] {

  override def apply(plan: SparkPlan): SparkPlan =
    if (isOff) plan
    else {
      var wide = WideStates.none
      def in(plan: SparkPlan, above: List[SparkPlan]): SparkPlan = {
        val here = plan match {
          case shuffle: ShuffleExchangeExec =>
            val partitions = shuffle.outputPartitioning.numPartitions
            below(shuffle.child, partitions, shuffle :: above).fold[SparkPlan](shuffle) {
              case (adapted, sums) =>
                wide ++= sums
                shuffle.withNewChildren(Seq(adapted))
            }
          case other => other
        }
        here.mapChildren(in(_, here :: above))
      }
      val adapted = in(plan, Nil)
      wide.inAll(adapted)
    }

  private def isOff: Boolean = Decline
    .switchedOff("shuffle", ShuffleConf.ENABLED, ShuffleConf.ADAPTIVE_LOCAL_AGGREGATE)
    .isDefined

  /** The adaptive local aggregate, and its sums that must be wide in all aggregates above, too. */
  private def below(
      plan: SparkPlan,
      partitions: Int,
      above: List[SparkPlan]): Option[(SparkPlan, WideStates)] = plan match {
    case counting: CountedKeysExec =>
      below(counting.child, partitions, above).map { case (adapted, sums) =>
        counting.copy(child = adapted) -> sums
      }
    case partial: BaseAggregateExec =>
      val sums = WideStates.of(partial)
      for {
        evidence <- evidence(partial, LocalAggregateLimits.of(partitions))
        if sums.isEmpty || sums.areReadBy(above)
        wide <- sums.in(partial)
        adapted <- adapted(partial, wide, LocalAggregateLimits.of(partitions), evidence)
      } yield adapted -> sums
    case _ => None
  }

  /** @param wide the same aggregate, with sums that may exceed the range of their type */
  private def adapted(
      partial: BaseAggregateExec,
      wide: BaseAggregateExec,
      limits: LocalAggregateLimits,
      evidence: Map[String, String]): Option[SparkPlan] = {
    val input = partial.child match {
      // This sort serves the aggregate only. A sort that the user wrote stays.
      case sort: SortExec if !sort.global && !sort.logicalLink.exists(_.isInstanceOf[Sort]) =>
        sort.child
      case rows => rows
    }
    for {
      states <- OneRowStates.of(wide)
      keys = wide.groupingExpressions.map(_.toAttribute)
      merged <- merging(wide, keys, HandedOverExec(wide.output))
    } yield {
      val node = AdaptiveLocalAggregateExec(
        wide,
        merged,
        keys,
        limits,
        evidence,
        ProjectExec(states, input))
      node.copyTagsFrom(partial)
      node
    }
  }

  /**
   * The final aggregate of a `SELECT DISTINCT` has no function with a mode. Its required
   * distribution shows that it is not partial.
   */
  private def isPartial(aggregate: BaseAggregateExec): Boolean =
    aggregate.groupingExpressions.nonEmpty &&
      aggregate.requiredChildDistributionExpressions.isEmpty &&
      aggregate.aggregateExpressions.forall(OneRowStates.isPossible)

  /** The facts that allow it; `None` if there are none. */
  private def evidence(
      partial: BaseAggregateExec,
      limits: LocalAggregateLimits): Option[Map[String, String]] =
    if (!isPartial(partial)) None
    else if (limits.allowAnything)
      Some(Map("source" -> s"${ShuffleConf.DISTINCT_VALUE_RATE.key} is 0"))
    else if (partial.exists(isShuffle(_))) None
    else
      sample.rate(partial).toOption.filter(found =>
        limits.allow(found.distinct, found.largestShare))
        .map { found =>
          Map("distinct" -> f"${found.distinct}%.2f of a task's rows", "source" -> found.source)
        }

  /**
   * Whether the rows come from a shuffle or a cached table. A sample says nothing of the tasks
   * above a shuffle. Also, rows of a shuffle arrive in any order: a task that runs again would
   * switch at another row and emit other rows. Spark requires the same rows. The same is true of
   * a cached table after a part of it is lost.
   */
  private def isShuffle(plan: SparkPlan): Boolean = plan match {
    case _: Exchange | _: QueryStageExec | _: InMemoryTableScanExec => true
    case _ => false
  }

  /** The same aggregate over rows that are groups already. */
  private def merging(
      partial: BaseAggregateExec,
      keys: Seq[Attribute],
      groups: SparkPlan): Option[SparkPlan] = {
    val calls = partial.aggregateExpressions.map(_.copy(mode = PartialMerge))
    partial match {
      case hash: HashAggregateExec =>
        Some(hash.copy(
          groupingExpressions = keys,
          aggregateExpressions = calls,
          initialInputBufferOffset = keys.size,
          child = groups))
      case sort: SortAggregateExec =>
        Some(sort.copy(
          groupingExpressions = keys,
          aggregateExpressions = calls,
          initialInputBufferOffset = keys.size,
          child = SortExec(keys.map(SortOrder(_, Ascending)), global = false, groups)
        ))
      case _ => None
    }
  }
}

private[shuffle] object AdaptLocalAggregates {

  /** The rule's name in `firesteel.explain`. */
  val name: String = "AdaptLocalAggregates"
}
