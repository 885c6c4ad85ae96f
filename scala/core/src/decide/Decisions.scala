package io.firesteel.core.decide

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan

/** A rule that fired: the node of the plan that proves it, in words. */
final case class Fired(rule: String, message: String, values: Map[String, String])

/** A rule that left a recognised plan alone, and why. */
final case class Declined(rule: String, why: Decline)

/** A physical node that a rule of firesteel planned. Its presence in a plan is the proof. */
trait FiredOperator { self: SparkPlan =>

  /** The rule that planned this node, such as `PlanTopN`. */
  def firedRule: String

  /** One sentence for the author of the query. */
  def firedMessage: String

  /** The values that the operator works with, by name. */
  def firedValues: Map[String, String]

  /** False for the second node of a pair, so that one decision is reported once. */
  def reportsDecision: Boolean = true
}

/**
 * What each planner strategy decided about the nodes of one physical plan.
 *
 * A decline is a tag on the logical node at the moment it is planned. Strategies run after the last
 * logical rule, on a copy of the plan that belongs to one execution, and Spark links that very node
 * to the physical one (`logicalLink`); so a decision lives as long as the plan it is about, and is
 * found in adaptive, cached and streaming plans alike. A tag set earlier, in an optimizer rule,
 * would be lost when a later rule copies the node.
 */
object Decisions {

  private val declined = TreeNodeTag[Map[String, Declined]]("firesteel.declined")

  private val fired = TreeNodeTag[Map[String, Rewrite]]("firesteel.fired")

  /** Records that `rule` left `node` to Spark; the last word of a rule counts. */
  def decline(node: LogicalPlan, rule: String, why: Decline): Unit =
    node.setTagValue(declined, declinesOf(node) + (rule -> Declined(rule, why)))

  /** Forgets what `rule` said of `node`: it has planned it after all. */
  def fire(node: LogicalPlan, rule: String): Unit =
    if (declinesOf(node).contains(rule)) node.setTagValue(declined, declinesOf(node) - rule)

  /**
   * Records that a rewrite in the optimizer made `nodes`, for which Spark then plans operators of its
   * own: no [[FiredOperator]] would show it. Spark may replace some of them, so that it takes the
   * one of them that is still there to tell.
   */
  def fire(nodes: Seq[LogicalPlan], what: Fired): Unit = {
    val rewrite = new Rewrite(what)
    nodes.foreach(node => node.setTagValue(fired, rewritesOf(node) + (what.rule -> rewrite)))
  }

  /** The rewrites that made the logical node from which `plan` was planned. */
  private[core] def rewritesAt(plan: SparkPlan): Seq[Rewrite] =
    plan.getTagValue(SparkPlan.LOGICAL_PLAN_TAG).toSeq.flatMap(rewritesOf(_).values)

  private def rewritesOf(node: LogicalPlan): Map[String, Rewrite] =
    node.getTagValue(fired).getOrElse(Map.empty)

  /** What was declined about the logical node from which `plan` itself was planned. */
  def declinesAt(plan: SparkPlan): Seq[Declined] =
    plan.getTagValue(SparkPlan.LOGICAL_PLAN_TAG).toSeq.flatMap(declinesOf(_).values)

  private def declinesOf(node: LogicalPlan): Map[String, Declined] =
    node.getTagValue(declined).getOrElse(Map.empty)

  /** One firing of a rule; another with the same words is another. */
  final private[core] class Rewrite(val what: Fired)
}
