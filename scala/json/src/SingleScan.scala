package io.firesteel.json

import org.apache.spark.sql.catalyst.expressions.{Expression, GetStructField}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A scan in the place of each expression over a document. It is evaluated as often as that was. */
private[json] object SingleScan {

  def in(node: LogicalPlan): LogicalPlan =
    node.mapExpressions(JsonCalls.replace(_)(ofCall))

  private def ofCall(call: JsonCall): Option[Expression] = call.output("value").map { output =>
    val document = JsonCalls.replace(call.document)(ofCall)
    GetStructField(JsonScan(document, Seq(output), shared = false), 0, Some(output.name))
  }
}
