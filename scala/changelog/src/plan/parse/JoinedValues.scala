package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.{ChangelogErrors, CountedRows}
import io.firesteel.changelog.plan.{ChangelogOperator, Projection, UserText}
import io.firesteel.changelog.state.PlanVersion
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Expression, ScalarSubquery}
import org.apache.spark.sql.catalyst.optimizer.{PullupCorrelatedPredicates, RewriteCorrelatedScalarSubquery}
import org.apache.spark.sql.catalyst.plans.{LeftOuter, LeftSingle}
import org.apache.spark.sql.catalyst.plans.logical.{Join, LocalRelation, LogicalPlan, Project}

/**
 * Correlated values of tables, `(SELECT max(v) FROM t WHERE t.id = s.id)`, above rows that change.
 * Spark's optimizer writes each as a left join with the table's values by key. State keeps the value
 * that a row has met.
 */
private[parse] object JoinedValues {

  /** The rows with a column for each of `values`, and these columns. */
  def apply(
      values: Seq[ScalarSubquery],
      input: ChangelogOperator,
      ttlMs: Long,
      version: Int): (Seq[(ScalarSubquery, Attribute)], ChangelogOperator) = {
    val named = values.map { value =>
      val asked =
        if (version < PlanVersion.settledSubqueries) value
        else value.withNewPlan(CountedRows.in(value.plan))
      Alias(asked, UserText.name(value))()
    }
    (values.zip(named.map(_.toAttribute)), named.foldLeft(input)(withValue(_, _, ttlMs, version)))
  }

  private def withValue(
      input: ChangelogOperator,
      value: Alias,
      ttlMs: Long,
      version: Int): ChangelogOperator = {
    val rows = LocalRelation(input.output, Nil, isStreaming = true)
    val asked = Project((input.output: Seq[Attribute]) :+ value, rows)

    def read(plan: LogicalPlan): ChangelogOperator = plan match {
      case leaf if leaf eq rows => input
      case project: Project => Projection(project.projectList, read(project.child))
      case join: Join if isOfTable(join) =>
        ReadJoin.ofOne(join, read(join.left), ttlMs, version)
          .getOrElse(throw unsupported(value.child, input))
      case _ => throw unsupported(value.child, input)
    }
    read(RewriteCorrelatedScalarSubquery(PullupCorrelatedPredicates(asked)))
  }

  private def isOfTable(join: Join): Boolean = !join.right.isStreaming &&
    (join.joinType == LeftOuter || join.joinType == LeftSingle)

  private def unsupported(value: Expression, input: ChangelogOperator): Throwable =
    if (input.facts.upsertKeys.isEmpty) withoutKey(value)
    else
      ChangelogErrors.unsupportedOperator(
        UserText.of(value),
        "it is correlated by more than equalities of columns",
        "write a LEFT JOIN with a table that has one value for each key"
      )

  def withoutKey(asked: Expression): Throwable = ChangelogErrors.unsupportedOperator(
    UserText.of(asked),
    "state cannot keep its values, because no columns identify the rows",
    "write it above a GROUP BY or a ranking, whose keys identify rows, or below the first one"
  )
}
