package io.firesteel.json

import org.apache.spark.sql.catalyst.expressions.{Alias, GetStructField, JsonTuple}
import org.apache.spark.sql.catalyst.plans.logical.{Generate, LogicalPlan, Project}

/** `json_tuple` as a projection: it has one row for each row of its input, with `OUTER` or without. */
private[json] object TupleScan {

  def of(generate: Generate, tuple: JsonTuple): LogicalPlan =
    JsonCall.ofTuple(tuple, generate.generatorOutput) match {
      case Left(_) => generate
      case Right(outputs) =>
        val scan = Alias(JsonScan(tuple.children.head, outputs, shared = true), "json")()
        val required = generate.requiredChildOutput
        val columns = generate.generatorOutput.zipWithIndex.map { case (column, place) =>
          Alias(GetStructField(scan.toAttribute, place, Some(column.name)), column.name)(
            exprId = column.exprId,
            qualifier = column.qualifier)
        }
        Project(required ++ columns, Project(required :+ scan, generate.child))
    }
}
