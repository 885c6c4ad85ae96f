package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, AggregateHint, LogicalPlan, UnaryNode}
import org.apache.spark.sql.catalyst.trees.TreeNodeTag

/**
 * A hint on an aggregate. Spark's `Aggregate` has a field for hints, and Spark itself uses none.
 */
private[skew] sealed abstract class PhasesHint extends AggregateHint with Product
  with Serializable {
  def name: String
}

private[skew] object PhasesHint {

  /** One phase, as `spark.firesteel.skew.aggPhaseStrategy=ONE_PHASE`. */
  case object OnePhase extends PhasesHint {
    override def name: String = "ONE_PHASE"
  }

  /**
   * Two phases, as `spark.firesteel.skew.aggPhaseStrategy=TWO_PHASE`.
   *
   * @param buckets number of buckets for the values of a group; by default the number of the
   *   shuffle's partitions
   */
  final case class TwoPhase(buckets: Option[Int]) extends PhasesHint {
    override def name: String = "TWO_PHASE"
  }

  private val tag = TreeNodeTag[PhasesHint]("firesteel.skew.phases")

  /**
   * Writes the hint into both the field and a tag. A rule of Spark that copies an aggregate keeps
   * the field; one that replaces the node keeps the tags.
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

/** Marks the input of a hinted aggregate until Spark has resolved that aggregate. */
private[skew] final case class HintedInput(hint: PhasesHint, child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(newChild: LogicalPlan): HintedInput =
    copy(child = newChild)
}
