package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, AggregateHint, LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/** What a query asks of its aggregate. Spark keeps a place for such a hint, and has none itself. */
private[skew] sealed abstract class PhasesHint extends AggregateHint with Product
  with Serializable {
  def name: String
}

private[skew] object PhasesHint {

  /** Not in two phases: as `spark.firesteel.skew.aggPhaseStrategy=ONE_PHASE`. */
  case object OnePhase extends PhasesHint {
    override def name: String = "ONE_PHASE"
  }

  /**
   * In two phases, as `TWO_PHASE` of that setting.
   *
   * @param buckets into which the values of a group are split; by default as many as the shuffle has
   *   partitions
   */
  final case class TwoPhase(buckets: Option[Int]) extends PhasesHint {
    override def name: String = "TWO_PHASE"
  }

  private val tag = TreeNodeTag[PhasesHint]("firesteel.skew.phases")

  /**
   * Spark's rules that make an aggregate anew keep either its hint, as those that copy it, or its
   * tags, as those that put another in its place; so it is written in both.
   */
  def give(aggregate: Aggregate, hint: PhasesHint): Aggregate = {
    val hinted = aggregate.copy(hint = Some(hint))
    hinted.copyTagsFrom(aggregate)
    hinted.setTagValue(tag, hint)
    hinted
  }

  def of(aggregate: Aggregate): Option[PhasesHint] =
    aggregate.hint.collect { case hint: PhasesHint => hint }.orElse(aggregate.getTagValue(tag))
}

/** The input of the aggregate that a hint is about, until Spark has resolved that aggregate. */
private[skew] final case class HintedInput(hint: PhasesHint, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): HintedInput =
    copy(child = newChild)
}
