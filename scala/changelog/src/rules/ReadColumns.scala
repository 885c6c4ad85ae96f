package io.firesteel.changelog.rules

import org.apache.spark.sql.catalyst.expressions.{AttributeSet, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, EventTimeWatermark, Filter, Generate, GlobalLimit, Join, LocalLimit, LogicalPlan, Project, ResolvedHint, Sort, SubqueryAlias, Union, View, Window}

/** The columns of an input that an operator reads, given those of its result that are read. */
private[rules] object ReadColumns {

  def apply(plan: LogicalPlan, input: LogicalPlan, read: AttributeSet): AttributeSet = plan match {
    case Project(columns, _) => references(columns.filter(c => read.contains(c.toAttribute)))
    case aggregate: Aggregate =>
      val asked = aggregate.aggregateExpressions.filter(c => read.contains(c.toAttribute))
      references(asked) ++ AttributeSet.fromAttributeSets(
        aggregate.groupingExpressions.map(_.references))
    case union: Union =>
      // By position.
      val places = union.output.indices.filter(i => read.contains(union.output(i)))
      AttributeSet(places.map(input.output(_)))
    case _: Filter | _: Join | _: Generate | _: Sort | _: GlobalLimit | _: LocalLimit | _: Window |
        _: ResolvedHint | _: SubqueryAlias | _: View | _: EventTimeWatermark =>
      (plan.references ++ read).intersect(input.outputSet)
    case _ => input.outputSet
  }

  private def references(columns: Seq[NamedExpression]): AttributeSet =
    AttributeSet.fromAttributeSets(columns.map(_.references))
}
