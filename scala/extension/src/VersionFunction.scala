package io.firesteel.extension

import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.StructType

/**
 * `SELECT * FROM firesteel_version()`: one row about the installed jar.
 *
 * As SQL it works from every client. `firesteel.check` uses it in classic sessions and on Connect.
 */
object VersionFunction {

  private val name = "firesteel_version"

  private val schema =
    StructType.fromDDL("version STRING, spark_version STRING, supported_spark STRING, " +
      "rooms ARRAY<STRING>")

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) =
    (FunctionIdentifier(name), new ExpressionInfo(getClass.getName, name), build)

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    TableFunctions.requireArguments(name, Nil, arguments)
    val row = org.apache.spark.sql.Row(
      Version.firesteel,
      SPARK_VERSION,
      SupportedSpark.line,
      Rooms.names)
    LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(schema), Seq(row))
  }
}
