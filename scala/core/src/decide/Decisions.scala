package io.firesteel.core.decide

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.SparkPlan

/** A rule that fired, in words; a node of the plan proves it. */
final case class Fired(rule: String, message: String, values: Map[String, String])

/** A rule that declined a plan that it recognises, and the reason. */
final case class Declined(rule: String, why: Decline)

/**
 * A physical node that a rule of firesteel planned; its presence in a plan proves that the rule
 * fired.
 */
trait FiredOperator { self: SparkPlan =>

  /** The rule that planned this node, such as `PlanTopN`. */
  def firedRule: String

  /** One sentence for the author of the query. */
  def firedMessage: String

  /** The operator's values, by name. */
  def firedValues: Map[String, String]

  /** False for the second node of a pair, so that one decision is reported once. */
  def reportsDecision: Boolean = true
}

/**
 * An expression that a rule of firesteel made; its presence in a physical plan proves that the rule
 * fired. A rewrite in the optimizer is shown by it, where later rules may copy every node.
 */
trait FiredExpression { self: Expression =>
  def fired: Fired
}

/**
 * The decisions of the planner strategies about one physical plan.
 *
 * A decline is a tag on the logical node while it is planned. Strategies run after the last logical
 * rule, on a copy of the plan that belongs to one execution, and Spark links that node to the
 * physical one (`logicalLink`). So a decision lives as long as its plan, and is found in adaptive,
 * cached and streaming plans. A tag that an optimizer rule sets earlier would be lost when a later
 * rule copies the node.
 */
object Decisions {

  private val declined = TreeNodeTag[Map[String, Declined]]("firesteel.declined")

  private val fired = TreeNodeTag[Map[String, Rewrite]]("firesteel.fired")

  /** Records that `rule` declined `node`; a rule's last reason counts. */
  def decline(node: LogicalPlan, rule: String, why: Decline): Unit =
    node.setTagValue(declined, declinesOf(node) + (rule -> Declined(rule, why)))

  /** Removes the decline of `rule`: it has planned `node` after all. */
  def fire(node: LogicalPlan, rule: String): Unit =
    if (declinesOf(node).contains(rule)) node.setTagValue(declined, declinesOf(node) - rule)

  /**
   * Records that a rewrite in the optimizer made `nodes`. Spark plans its own operators for them,
   * so no [[FiredOperator]] shows the rewrite. Spark may replace some of the nodes; one of them is
   * enough.
   */
  def fire(nodes: Seq[LogicalPlan], what: Fired): Unit = fire(nodes, what.rule)(what)

  /** The same with values that are asked for after the query has run. */
  def fire(nodes: Seq[LogicalPlan], rule: String)(what: => Fired): Unit = {
    val rewrite = new Rewrite(() => what)
    nodes.foreach { node =>
      fire(node, rule)
      node.setTagValue(fired, rewritesOf(node) + (rule -> rewrite))
    }
  }

  /** The rewrites that made the logical node of `plan`. */
  private[core] def rewritesAt(plan: SparkPlan): Seq[Rewrite] =
    plan.getTagValue(SparkPlan.LOGICAL_PLAN_TAG).toSeq.flatMap(rewritesOf(_).values)

  private def rewritesOf(node: LogicalPlan): Map[String, Rewrite] =
    node.getTagValue(fired).getOrElse(Map.empty)

  /** The declines about the logical node of `plan` itself. */
  def declinesAt(plan: SparkPlan): Seq[Declined] =
    plan.getTagValue(SparkPlan.LOGICAL_PLAN_TAG).toSeq.flatMap(declinesOf(_).values)

  private def declinesOf(node: LogicalPlan): Map[String, Declined] =
    node.getTagValue(declined).getOrElse(Map.empty)

  /** One firing of a rule; it differs from another with the same words. */
  final private[core] class Rewrite(ask: () => Fired) {
    def what: Fired = ask()
  }
}
