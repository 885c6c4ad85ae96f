package io.firesteel.json

import org.apache.spark.sql.catalyst.expressions.{Expression, GetStructField}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/** A scan in the place of each expression over a document. It is evaluated as often as that was. */
private[json] object SingleScan {

  def in(node: LogicalPlan): LogicalPlan =
    node.mapExpressions(JsonCalls.replace(_)(ofCall(_, keepsErrors = false)))

  /**
   * Spark computes a projection with `from_json` for each of its rows. Generated code would not, if a
   * join above drops the row, unless the scan counts as not deterministic.
   */
  def of(project: Project): LogicalPlan =
    project.mapExpressions(JsonCalls.replace(_)(ofCall(_, keepsErrors = true)))

  private def ofCall(call: JsonCall, keepsErrors: Boolean): Option[Expression] =
    call.output("value").map { output =>
      val document = JsonCalls.replace(call.document)(ofCall(_, keepsErrors))
      val scan = JsonScan(document, Seq(output), shared = keepsErrors && call.fails)
      GetStructField(scan, 0, Some(output.name))
    }
}
