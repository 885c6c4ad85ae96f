package io.firesteel.changelog.sql

import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * `SELECT * FROM from_changelog(TABLE(t), op => 'op', keys => array('k'), sequence_by => 'ts')`:
 * the table whose changes are the rows of `t`.
 *
 * It is a SQL function, so every client can call it, and it works in views and over Spark Connect.
 */
object FromChangelogFunction {

  private val name = "from_changelog"

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) =
    (FunctionIdentifier(name), new ExpressionInfo(getClass.getName, name), build)

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    val passed = new SourceArguments(name, Seq("input", "op", "keys", "sequence_by"), arguments)
    of(
      passed,
      passed.table("input"),
      passed.text("op").getOrElse("op"))
  }

  /** The source whose rows have their kinds in the column `op`. */
  private[changelog] def of(
      passed: SourceArguments,
      rows: LogicalPlan,
      op: String): LogicalPlan =
    FromChangelog(
      passed.function,
      column(op),
      passed.names("keys").map(column),
      passed.names("sequence_by").map(column),
      rows)

  private def column(name: String) = UnresolvedAttribute(Seq(name))
}
