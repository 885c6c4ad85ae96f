package io.firesteel.shuffle

import io.firesteel.core.decide.{Decisions, Decline, Fired}
import scala.annotation.tailrec
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{ColumnarRule, RemoveRedundantSorts, SparkPlan}
import org.apache.spark.sql.execution.adaptive.{AdaptiveSparkPlanExec, QueryStageExec}
import org.apache.spark.sql.execution.exchange.{BroadcastExchangeExec, ENSURE_REQUIREMENTS, ShuffleExchangeExec, ValidateRequirements}
import org.apache.spark.sql.execution.streaming.operators.stateful.StatefulOperator

/**
 * Leaves out a shuffle whose keys are some of those of a shuffle below it, by spreading the rows there
 * by these keys alone.
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
 * Rows of one (a, b) are still together, since rows of one a are. But a may have too few values to
 * occupy all tasks, or one value with most of the rows: [[KeyGate]] decides by what is known of them.
 *
 * Every result is validated against the requirements of all its operators, and dropped if it is not
 * valid, or has not fewer shuffles. Flink counterpart: `FlinkPhysicalRel.satisfyTraits`.
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
    // Behind the shuffles, which often are between two sorts of which one will do.
    else RemoveRedundantSort(withFewerShuffles(plan))
  }

  private def withFewerShuffles(plan: SparkPlan): SparkPlan =
    if (!plan.exists(Candidate.isOfSpark(_))) plan
    else {
      val unknown = ArrayBuffer.empty[Coarsened]
      val coarser = removed(plan, Nil, unknown, new Candidates)
      // A sort below a shuffle that went may be all that was wanted above it.
      val unsorted = if (coarser eq plan) plan else RemoveRedundantSorts(coarser)
      val counting =
        if (adaptive) FinishedShuffle.counting(unsorted, unknown.toSeq) else unsorted
      // Last: what is counted are the keys by which rows are spread in the end.
      localAggregates(counting)
    }

  /** Operators of a changelog hide their link: adaptive execution may not plan them anew. */
  private def isStream(plan: SparkPlan): Boolean =
    plan.logicalLink.exists(_.isStreaming) || plan.exists(_.isInstanceOf[StatefulOperator])

  /**
   * From the top down: the shuffle above a chain may make the whole chain needless.
   *
   * @param unknown gets the changes that were refused because nothing is known of the keys
   */
  @tailrec
  private def removed(
      plan: SparkPlan,
      refused: Seq[SparkPlan],
      unknown: ArrayBuffer[Coarsened],
      candidates: Candidates): SparkPlan =
    candidates.of(plan, refused).nextOption() match {
      case None => plan
      // Switched off the room says so once, and looks no further: what it could do is dear to find out.
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
   * The better plan, or why not; without a reason where it turned out not to be one.
   *
   * @param alike parts that change equal shuffles in the same way, all at once: of equal shuffles Spark
   *   runs one, and would run two if one of them were changed
   */
  private def attempt(
      plan: SparkPlan,
      alike: Seq[Candidate]): Either[Option[Decline], SparkPlan] =
    // First: the rest takes tens of milliseconds of a plan of hundreds of nodes, at each of its stages.
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

  /** Shuffles that run; of equal ones Spark runs one. */
  private def shuffles(plan: SparkPlan): Set[SparkPlan] =
    plan.collect { case shuffle: ShuffleExchangeExec => shuffle.canonicalized }.toSet

  /** Whether a subquery, which is planned before, waits for the same shuffle. */
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

  /** In `firesteel.explain`; Spark's own name of a rule has its package. */
  val name: String = "RemoveRedundantShuffle"

  /** With adaptive execution off only rules about columns run behind those that plan shuffles. */
  final class WithoutAdaptive(session: SparkSession) extends ColumnarRule {
    private val rule = new RemoveRedundantShuffle(session, adaptive = false)
    override def preColumnarTransitions: Rule[SparkPlan] = new Rule[SparkPlan] {
      override def apply(plan: SparkPlan): SparkPlan =
        if (conf.adaptiveExecutionEnabled || isStage(plan)) plan else rule(plan)
    }

    /**
     * Adaptive execution hands single stages to such rules, whose uppermost shuffle must stay; also
     * where it was on when the query was planned, and is not now.
     */
    private def isStage(plan: SparkPlan): Boolean = plan match {
      case shuffle: ShuffleExchangeExec => shuffle.shuffleOrigin == ENSURE_REQUIREMENTS
      case _: BroadcastExchangeExec => true
      case _ => plan.exists(_.isInstanceOf[QueryStageExec])
    }
  }
}
