package io.firesteel.extension

import io.firesteel.changelog.rules.ExplainStream
import io.firesteel.core.decide.Explain
import io.firesteel.core.errors.FiresteelAnalysisException
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.firesteel.{outputModeOf, planOf}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/**
 * `SELECT * FROM firesteel_explain('SELECT ...')`: a row for each rule that fires or declines in a
 * query, and last the physical plan. A query over streams is explained as if it started in append
 * mode, or in the mode that a second argument names.
 *
 * The query is planned, not run. As SQL it works from every client: JDBC, Spark Connect.
 */
object ExplainFunction {

  private val name = "firesteel_explain"

  private val schema =
    StructType.fromDDL("outcome STRING, rule STRING, code STRING, message STRING, " +
      "values MAP<STRING, STRING>, setting STRING")

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) =
    (FunctionIdentifier(name), new ExpressionInfo(getClass.getName, name), build)

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    val names = if (arguments.size == 2) Seq("sql", "output_mode") else Seq("sql")
    TableFunctions.requireArguments(name, names, arguments)
    val session = SparkSession.active
    val planned = planOf(session, textOf(arguments.head))
    val mode = outputModeOf(arguments.lift(1).fold("append")(textOf))
    val explained =
      if (planned.analyzed.isStreaming) ExplainStream(session, planned.analyzed, mode)
      else Explain.of(planned.executedPlan)
    LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(schema), rows(explained))
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
