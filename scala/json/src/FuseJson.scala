package io.firesteel.json

import io.firesteel.core.decide.Decline
import io.firesteel.core.plans.{DynamicPruning, ReadByKey}

import org.apache.spark.sql.catalyst.expressions.JsonTuple
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Generate, Join, LocalLimit, LogicalPlan, Project, Sort, Subquery}
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
 * scan of its own in its place. [[DeclineJson]] records why
 * expressions are left alone.
 */
object FuseJson extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (Decline.switchedOff("json", JsonConf.ENABLED).nonEmpty || !plan.exists(JsonCalls.isAt)) plan
    else fused(plan, shares = !plan.isInstanceOf[Subquery])

  /**
   * @param shares whether several expressions may read one scan. It is not deterministic, so Spark's
   *   later filters would not pass it: those of [[DynamicPruning]], and subqueries by which partitions
   *   are chosen
   */
  private def fused(plan: LogicalPlan, shares: Boolean): LogicalPlan = {
    val read = plan match {
      // Spark keeps the first rows only of an order, if one projection stands above it.
      case limit @ LocalLimit(_, project @ Project(_, _: Sort)) if JsonCalls.isAt(project) =>
        limit.copy(child = SingleScan.in(project))
      // A lookup join reads conditions and columns of its table where the query has them.
      case node if JsonCalls.isAt(node) && !ReadByKey.isBelow(node) =>
        if (shares) rewrite(node) else alone(node)
      case other => other
    }
    val below = shares && (read match {
      case join: Join => DynamicPruning.inputsOf(join).isEmpty
      case _ => true
    })
    read.mapChildren(fused(_, below))
  }

  /** Each expression with a scan of its own. */
  private def alone(node: LogicalPlan): LogicalPlan = node match {
    case filter: Filter => SingleScan.in(AskedInOrder.of(filter))
    case aggregate: Aggregate if AskedInOrder.failsBeforeFilter(aggregate) => aggregate
    case aggregate: Aggregate => SingleScan.in(AskedInOrder.of(aggregate))
    case generate: Generate if generate.generator.isInstanceOf[JsonTuple] => node
    case _: Project | _: Generate => SingleScan.in(node)
    case other => other
  }

  private def rewrite(node: LogicalPlan): LogicalPlan = node match {
    case project: Project => SingleScan.in(SharedScan.in(project))
    case filter: Filter => ofFilter(filter)
    case aggregate: Aggregate if AskedInOrder.failsBeforeFilter(aggregate) => aggregate
    case aggregate: Aggregate => SingleScan.in(PullOutJson.of(AskedInOrder.of(aggregate)))
    case generate: Generate => ofGenerate(generate)
    case other => other
  }

  /** Conditions of one filter share a scan as the values of a projection do. */
  private def ofFilter(filter: Filter): LogicalPlan =
    SharedScan.in(Project(filter.output, filter)) match {
      case Project(_, same: Filter) if same eq filter => SingleScan.in(AskedInOrder.of(filter))
      case shared => shared
    }

  private def ofGenerate(generate: Generate): LogicalPlan = generate.generator match {
    case tuple: JsonTuple => TupleScan.of(generate, tuple)
    case _ => SingleScan.in(generate)
  }
}
