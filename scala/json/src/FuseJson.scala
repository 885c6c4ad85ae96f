package io.firesteel.json

import io.firesteel.core.decide.{Decisions, Decline, Fired}

import org.apache.spark.sql.catalyst.expressions.JsonTuple
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Generate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.rules.Rule

/**
 * Reads each document once for all expressions of a query that read it.
 *
 * {{{
 *   Project [from_json(j).a, get_json_object(j, '$.b')]
 *   +- child
 *
 *   Project [scan.0, scan.1]
 *   +- Project [json_scan(j) AS scan]
 *      +- child
 * }}}
 *
 * An expression that alone reads its column, that may fail, or that only some rows reach, gets a
 * scan of its own in its place. Reasons to leave an expression alone are the cases of
 * [[JsonDecline]].
 */
object FuseJson extends Rule[LogicalPlan] {

  private val name = "FuseJson"

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!plan.exists(JsonCalls.isAt)) plan
    else Decline.switchedOff("json", JsonConf.ENABLED) match {
      case Some(why) =>
        plan.foreach(node => if (JsonCalls.isAt(node)) Decisions.decline(node, name, why))
        plan
      case None => plan.transformDown { case node if JsonCalls.isAt(node) => rewrite(node) }
    }

  private def rewrite(node: LogicalPlan): LogicalPlan = {
    val declined = JsonCalls.declines(node)
    val rewritten = node match {
      case project: Project => SingleScan.in(SharedScan.in(project))
      case filter: Filter => ofFilter(filter)
      case aggregate: Aggregate => SingleScan.in(PullOutJson.of(aggregate))
      case generate: Generate => ofGenerate(generate)
      case other => other
    }
    declined.foreach(Decisions.decline(rewritten, name, _))
    val scanning = rewritten.collect { case some if scans(some).nonEmpty => some }
    if (scanning.nonEmpty && (rewritten ne node)) {
      Decisions.fire((rewritten +: scanning).distinct, fired(scanning))
    }
    rewritten
  }

  /** Conditions of one filter share a scan as the values of a projection do. */
  private def ofFilter(filter: Filter): LogicalPlan =
    SharedScan.in(Project(filter.output, filter)) match {
      case Project(_, same: Filter) if same eq filter => SingleScan.in(filter)
      case shared => shared
    }

  private def ofGenerate(generate: Generate): LogicalPlan = generate.generator match {
    case tuple: JsonTuple => TupleScan.of(generate, tuple)
    case _ => SingleScan.in(generate)
  }

  private def scans(node: LogicalPlan): Seq[JsonScan] =
    node.expressions.flatMap(_.collect { case scan: JsonScan => scan })

  private def fired(nodes: Seq[LogicalPlan]): Fired = {
    val values = nodes.flatMap(scans).map(_.outputs.length)
    Fired(
      name,
      "documents are read once, straight into binary rows",
      Map("scans" -> values.length.toString, "values" -> values.sum.toString))
  }
}
