package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.expressions.{Expression, TransformExpression}
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, KeyedPartitioning, KeyedShuffleSpec, Partitioning, PartitioningCollection}
import org.apache.spark.sql.catalyst.util.InternalRowComparableWrapper
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.GroupPartitionsExec

/** Tables whose source reports how they lie, as Spark has them since 4.2. */
object KeyedTables {

  /** Whether rooms may use what sources report. */
  val areUsable: Boolean = KeyedInternals.areThere

  def in(partitioning: Partitioning): Seq[KeyedTable] =
    if (areUsable) all(partitioning).map(Keyed(_)) else Nil

  /** Whether a source reports how a plan's rows lie. */
  def isReported(partitioning: Partitioning): Boolean = all(partitioning).nonEmpty

  /** Puts the parts of one value into one partition. */
  def grouped(plan: SparkPlan): Option[SparkPlan] =
    Some(KeyedInternals.grouped(plan))

  def isGrouping(plan: SparkPlan): Boolean = plan.isInstanceOf[GroupPartitionsExec]

  /** Whether the function can be computed: a source may report a function by name only. */
  def isComputed(function: TransformExpression): Boolean = KeyedInternals.isComputed(function)

  private def all(partitioning: Partitioning): Seq[KeyedPartitioning] = partitioning match {
    case several: PartitioningCollection => several.partitionings.flatMap(all)
    case keyed: KeyedPartitioning => Seq(keyed)
    case _ => Nil
  }

  final private case class Keyed(table: KeyedPartitioning) extends KeyedTable {
    override def numPartitions: Int = table.numPartitions
    override def expressions: Seq[Expression] = table.expressions
    override def values: Seq[InternalRowComparableWrapper] = table.partitionKeys
    override def isGrouped: Boolean = table.isGrouped
    override def mayHaveOtherValues: Boolean = KeyedInternals.mayHaveOtherValues(table)
    override def canShuffle(keys: Seq[Expression]): Boolean = spec(keys).canCreatePartitioning
    override def partitioningOf(mine: Seq[Expression], keys: Seq[Expression]): Partitioning =
      spec(mine).createPartitioning(keys)
    override def isCompatible(
        mine: Seq[Expression],
        other: KeyedTable,
        theirs: Seq[Expression]): Boolean = other match {
      case that: Keyed => spec(mine).isCompatibleWith(that.spec(theirs))
      case _ => false
    }

    private def spec(keys: Seq[Expression]): KeyedShuffleSpec =
      KeyedShuffleSpec(table, ClusteredDistribution(keys))
  }
}
