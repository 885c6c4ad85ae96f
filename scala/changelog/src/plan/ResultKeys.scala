package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.ExprId

/**
 * The upsert keys that a sink may use. Beside those of inference there are the keys of groups
 * without the constants among them. Inference itself keeps constants: other operators choose their
 * state by upsert keys, and a checkpoint must not see another choice.
 */
private[changelog] object ResultKeys {

  def apply(result: ChangelogOperator): Set[Set[ExprId]] =
    result.facts.upsertKeys ++ (result match {
      case Projection(columns, input) => ColumnFacts.mapKeys(columns, apply(input))
      case Selection(_, input) => apply(input)
      case groups: GroupAggregate =>
        val constants =
          groups.keys.filter(ColumnFacts.isConstant(_, groups.input)).map(_.exprId).toSet
        groups.facts.upsertKeys.map(_ -- constants)
      case _ => Set.empty
    })
}
