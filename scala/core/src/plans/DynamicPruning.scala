package io.firesteel.core.plans

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.execution.dynamicpruning.PartitionPruning
import org.apache.spark.sql.firesteel.EquiJoin
import org.apache.spark.sql.internal.SQLConf

/**
 * Dynamic partition pruning: late in its optimizer Spark filters one input of a join by what the
 * other one has, and reads fewer partitions. That filter passes only nodes that Spark knows, and
 * expressions that are deterministic; so must the other input be.
 */
object DynamicPruning {

  /** The inputs of a join that Spark may filter so. */
  def inputsOf(join: Join): Seq[LogicalPlan] =
    if (!SQLConf.get.dynamicPartitionPruningEnabled) Nil
    else EquiJoin.of(join).toSeq.flatMap { keys =>
      Seq(join.left -> keys.leftKeys, join.right -> keys.rightKeys)
        .collect { case (side, by) if by.exists(hasPartitions(_, side)) => side }
    }

  private def hasPartitions(key: Expression, side: LogicalPlan): Boolean =
    PartitionPruning.getFilterableTableScan(key, side).nonEmpty || side.exists {
      // Spark does not know yet which columns a scan of it may be filtered by.
      case relation: DataSourceV2Relation => relation.table.partitioning.nonEmpty
      case _ => false
    }
}
