package io.firesteel.extension

import io.firesteel.core.{Explain, FiresteelAnalysisException}
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.firesteel.planOf
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * `SELECT * FROM firesteel_explain('SELECT ...')`: what fires and what declines in a query, a row
 * for each, and last the physical plan.
 *
 * The query is planned, not run. As SQL it reaches every client: JDBC, Spark Connect.
 */
object ExplainFunction {

  private val name = "firesteel_explain"

  private val schema =
    StructType.fromDDL("outcome STRING, rule STRING, code STRING, message STRING, " +
      "values MAP<STRING, STRING>, setting STRING")

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) =
    (FunctionIdentifier(name), new ExpressionInfo(getClass.getName, name), build)

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    TableFunctions.requireArguments(name, Seq("sql"), arguments)
    val plan = planOf(SparkSession.active, textOf(arguments.head)).executedPlan
    LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(schema), rows(Explain.of(plan)))
  }

  private def textOf(argument: Expression): String =
    if (argument.foldable && argument.dataType.isInstanceOf[StringType]) {
      argument.eval() match {
        case text: UTF8String => text.toString
        case _ => throw notText("NULL")
      }
    } else throw notText(argument.sql)

  private def notText(written: String): FiresteelAnalysisException =
    new FiresteelAnalysisException(
      "FIRESTEEL_EXPLAIN_NOT_TEXT",
      Map("argument" -> written, "function" -> name))

  private def rows(explain: Explain): Seq[Row] =
    explain.fired.map(f => Row("fired", f.rule, null, f.message, f.values, null)) ++
      explain.declined.map { d =>
        Row("declined", d.rule, d.why.code, d.why.message, d.why.values, d.why.setting.orNull)
      } :+ Row("plan", null, null, explain.plan, null, null)
}
