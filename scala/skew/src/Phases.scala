package io.firesteel.skew

import io.firesteel.core.decide.Decline
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.internal.SQLConf

/**
 * How settings, hints and statistics decide on two phases.
 *
 * @param areForced whether to fire where Spark makes no copies of rows, too
 * @param takeSets whether to compute `collect_set` as a list of distinct values
 * @param refusal why nothing is computed in two phases
 * @param buckets number of buckets for the values of a group, if a hint gives one
 */
private[skew] final case class Phases(
    areForced: Boolean,
    takeSets: Boolean,
    refusal: Option[Decline],
    buckets: Option[Int] = None)

private[skew] object Phases {

  /**
   * @param hint of the query, which overrules the setting
   * @param hasDistincts whether the aggregate has a `DISTINCT`
   * @param hasSets whether it has a set; statistics are read only then
   */
  def of(
      grouping: Seq[Expression],
      child: LogicalPlan,
      hint: Option[PhasesHint],
      hasDistincts: Boolean,
      hasSets: Boolean): Phases =
    (hint, SQLConf.get.getConf(SkewConf.PHASES)) match {
      case (Some(PhasesHint.TwoPhase(buckets)), _) =>
        Phases(areForced = true, takeSets = true, None, buckets)
      case (Some(PhasesHint.OnePhase), _) =>
        Phases(
          areForced = false,
          takeSets = false,
          Some(SkewDecline.OnePhase("the hint ONE_PHASE")))
      case (None, "ONE_PHASE") =>
        val why = SkewDecline.OnePhase(s"${SkewConf.PHASES.key}=ONE_PHASE")
        Phases(areForced = false, takeSets = false, Some(why))
      case (None, "TWO_PHASE") => Phases(areForced = true, takeSets = true, None)
      case _ if !hasSets => Phases(areForced = false, takeSets = false, None)
      case _ =>
        val (groups, max) = (groupsOf(grouping, child), SQLConf.get.getConf(SkewConf.MAX_GROUPS))
        val few = groups.exists(_ <= max)
        def facts = groups
          .toRight("there are no statistics")
          .map(GroupFacts(_, largestShare = 0.0))
        val refusal =
          if (hasDistincts) None
          else if (!few) Some(SkewDecline.ManyGroups(facts, max))
          else smallInput(child)
        Phases(areForced = false, few, refusal)
    }

  /** For a small input another shuffle takes longer than it saves. */
  private def smallInput(child: LogicalPlan): Option[SkewDecline] = {
    val (size, least) = (child.stats.sizeInBytes, SQLConf.get.getConf(SkewConf.SAMPLE_MIN_SIZE))
    Option.when(size < least)(SkewDecline.SmallInput(size, least))
  }

  /** Upper bound of the number of groups, if the keys have statistics. */
  private def groupsOf(grouping: Seq[Expression], child: LogicalPlan): Option[BigInt] = {
    val statistics = child.stats.attributeStats
    grouping.foldLeft(Option(BigInt(1))) { (groups, key) =>
      val column = key match {
        case attribute: Attribute => Some(attribute)
        case Alias(attribute: Attribute, _) => Some(attribute)
        case _ => None
      }
      for {
        soFar <- groups
        attribute <- column
        known <- statistics.get(attribute)
        distinct <- known.distinctCount
      } yield soFar * (distinct + 1) // and the null
    }
  }
}
