package io.firesteel.shuffle

import io.firesteel.core.decide.{Decisions, Decline, Fired}
import scala.annotation.tailrec
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, RemoveRedundantSorts, SparkPlan}
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.{BroadcastExchangeExec, ENSURE_REQUIREMENTS, ShuffleExchangeExec, ValidateRequirements}
import org.apache.spark.sql.firesteel.streaming.StatefulOperator

/**
 * Removes a shuffle whose keys are a subset of the keys of a shuffle below it. The lower shuffle
 * then spreads its rows by the subset.
 *
 * {{{
 *   Window [a]                                  Window [a]
 *   +- Sort                                     +- Sort
 *      +- Exchange hashpartitioning(a)     =>      +- HashAggregate [a, b]
 *         +- HashAggregate [a, b]                     +- Exchange hashpartitioning(a)
 *            +- Exchange hashpartitioning(a, b)          +- HashAggregate [a, b], partial
 *               +- HashAggregate [a, b], partial
 * }}}
 *
 * Rows with one (a, b) are still together, because rows with one a are. But a may have too few
 * values to occupy all tasks, or one value with most of the rows. [[KeyGate]] decides by statistics
 * and samples.
 *
 * Every result is validated against the requirements of all its operators. It is dropped if it is
 * not valid or does not have fewer shuffles. Flink counterpart: `FlinkPhysicalRel.satisfyTraits`.
 */
private[firesteel] final class RemoveRedundantShuffle(
    session: SparkSession,
    adaptive: Boolean = true)
  extends Rule[SparkPlan] {
  import RemoveRedundantShuffle._

  private val sample = new KeySample(session)
  private val gate = new KeyGate(session, sample)
  private val localAggregates = new AdaptLocalAggregates(sample)

  override def apply(plan: SparkPlan): SparkPlan = {
    OutputWatch.look(plan)
    if (isStream(plan)) plan
    // After the shuffles: a removed shuffle often was between two sorts, and one of them is enough.
    else RemoveRedundantSort(withFewerShuffles(plan))
  }

  private def withFewerShuffles(plan: SparkPlan): SparkPlan =
    if (!plan.exists(Candidate.isOfSpark(_))) {
      OtherShuffle.decline(plan)
      plan
    } else {
      val unknown = ArrayBuffer.empty[Coarsened]
      val coarser = removed(plan, Nil, unknown, new Candidates)
      // A sort below a removed shuffle may provide the order that the sort above it was for.
      val unsorted = if (coarser eq plan) plan else RemoveRedundantSorts(coarser)
      val counting =
        if (adaptive) FinishedShuffle.counting(unsorted, unknown.toSeq) else unsorted
      OlderSpark.declineStoredTables(plan)
      OtherShuffle.decline(plan)
      // Last: keys are counted by which rows are finally spread.
      localAggregates(counting)
    }

  /** Operators of a changelog have no logical link: adaptive execution may not plan them again. */
  private def isStream(plan: SparkPlan): Boolean =
    plan.logicalLink.exists(_.isStreaming) || plan.exists(_.isInstanceOf[StatefulOperator])

  /**
   * From the top down: the shuffle above a chain may make the whole chain redundant.
   *
   * @param unknown receives the changes that were refused because nothing is known of the keys
   */
  @tailrec
  private def removed(
      plan: SparkPlan,
      refused: Seq[SparkPlan],
      unknown: ArrayBuffer[Coarsened],
      candidates: Candidates): SparkPlan =
    candidates.of(plan, refused).nextOption() match {
      case None => plan
      // If the room is switched off it gives that reason once and stops: finding all candidates is
      // expensive.
      case Some(candidate) if off.isDefined =>
        candidate.subject.foreach(Decisions.decline(_, name, off.get))
        plan
      case Some(candidate) =>
        attempt(plan, candidates.alike(plan, candidate)) match {
          case Right(better) => removed(better, refused, unknown, candidates)
          case Left(why) =>
            val subjects =
              candidate.subject ++ candidate.changed.flatMap(FinishedShuffle.subject(_))
            for (subject <- subjects; reason <- why)
              Decisions.decline(subject, name, reason)
            if (why.exists(_.isInstanceOf[ShuffleDecline.UnknownKeys]))
              unknown ++= candidate.changed
            removed(plan, candidate.place +: refused, unknown, candidates)
        }
    }

  /**
   * The better plan, or a reason; without a reason if the new plan is invalid.
   *
   * @param alike parts that change equal shuffles in the same way, all at once: Spark runs equal
   *   shuffles once, and would run two if only one of them were changed
   */
  private def attempt(
      plan: SparkPlan,
      alike: Seq[Candidate]): Either[Option[Decline], SparkPlan] =
    // First: the other tests take tens of milliseconds in a plan of hundreds of nodes, at each
    // stage.
    gate.objection(alike.head.keys, alike.head.unmeasured(plan)) match {
      case Some(why) => Left(Some(why))
      case None => checked(plan, alike)
    }

  private def checked(
      plan: SparkPlan,
      alike: Seq[Candidate]): Either[Option[Decline], SparkPlan] = {
    val better = alike.foldLeft(plan) { (changing, candidate) =>
      changing.transformDown { case node if node eq candidate.place => candidate.better }
    }
    val candidate = alike.head
    val keys = candidate.keys.map(_.sql).mkString(", ")
    lazy val (before, after) = (shuffles(plan), shuffles(better))
    if (!ValidateRequirements.validate(better)) Left(None)
    else if (after.size >= before.size ||
      candidate.changed.exists(change => after.contains(change.shuffle.canonicalized)) ||
      candidate.changed.exists(change => isInSubquery(plan, change.shuffle)) ||
      Candidate.repeatsWork(alike))
      Left(Some(ShuffleDecline.ReusedShuffle(keys)))
    else {
      val objections = alike.iterator
        .flatMap(one => one.kept.flatMap(gate.objection(_, one.changed))) ++
        candidate.changed.iterator.flatMap {
          gate.objection(_, isFree = candidate.kept.isEmpty, candidate.sparesGroups)
        }
      objections.nextOption() match {
        case Some(why) => Left(Some(why))
        case None =>
          val what = Fired(
            name,
            "rows are shuffled once, by the keys that both operators share",
            Map("keys" -> keys) ++ gate.evidence(candidate.changed))
          for (one <- alike; subject <- one.subject) Decisions.fire(Seq(subject), what)
          Right(better)
      }
    }
  }

  private def off: Option[Decline] = Decline.switchedOff("shuffle", ShuffleConf.ENABLED)

  /** Shuffles that run: Spark runs equal ones once. */
  private def shuffles(plan: SparkPlan): Set[SparkPlan] =
    plan.collect { case shuffle: ShuffleExchangeExec => shuffle.canonicalized }.toSet

  /** Whether a subquery uses the same shuffle. Subqueries are planned first. */
  private def isInSubquery(plan: SparkPlan, shuffle: ShuffleExchangeExec): Boolean =
    plan.subqueriesAll.exists { subquery =>
      subquery.exists {
        case adaptive: AdaptiveSparkPlanExec =>
          shuffles(adaptive.initialPlan).contains(shuffle.canonicalized)
        case other: ShuffleExchangeExec => other.canonicalized == shuffle.canonicalized
        case _ => false
      }
    }
}

private[firesteel] object RemoveRedundantShuffle {

  /** The rule's name in `firesteel.explain`; Spark's own names include the package. */
  val name: String = "RemoveRedundantShuffle"

  /** With adaptive execution off, only rules about columns run after shuffles are planned. */
  final class WithoutAdaptive(session: SparkSession) extends ColumnarRule {
    private val rule = new RemoveRedundantShuffle(session, adaptive = false)
    override def preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
      override def apply(plan: SparkPlan): SparkPlan =
        if (conf.adaptiveExecutionEnabled || isStage(plan)) plan else rule(plan)
    }

    /**
     * Adaptive execution also passes single stages to such rules; their topmost shuffle must stay.
     * It does so even if adaptive execution was on when the query was planned and is off now.
     */
    private def isStage(plan: SparkPlan): Boolean = plan match {
      case shuffle: ShuffleExchangeExec => shuffle.shuffleOrigin == ENSURE_REQUIREMENTS
      case _: BroadcastExchangeExec => true
      case _ => plan.exists(_.isInstanceOf[QueryStageExec])
    }
  }
}
