package io.firesteel.changelog.upsert

import io.firesteel.changelog.sql.SourceArguments
import org.apache.spark.sql.catalyst.FunctionIdentifier
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/**
 * `SELECT * FROM to_upsert(TABLE(q), keys => array('k'))`: the changes of a query as records with a
 * key and a value, which is null for a deletion (Flink: `upsert-kafka`).
 */
object ToUpsertFunction {

  private[upsert] val name = "to_upsert"

  val description: (FunctionIdentifier, ExpressionInfo, Seq[Expression] => LogicalPlan) =
    (FunctionIdentifier(name), new ExpressionInfo(getClass.getName, name), build)

  private def build(arguments: Seq[Expression]): LogicalPlan = {
    val passed = new SourceArguments(name, Seq("input", "keys"), arguments)
    val keys = passed.names("keys")
    if (keys.isEmpty) throw passed.wrong()
    ToUpsert(keys.map(key => UnresolvedAttribute(Seq(key))), passed.table("input"))
  }
}
