package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.util.InternalRowComparableWrapper

/** How a table lies whose source reports it: a partition for each value of expressions. */
trait KeyedTable {

  def numPartitions: Int

  /** Columns, and functions of columns. */
  def expressions: Seq[Expression]

  /** The value of each partition. */
  def values: Seq[InternalRowComparableWrapper]

  /** Whether each value has one partition. */
  def isGrouped: Boolean

  /** Whether rows may have a value that none of the partitions has. */
  def mayHaveOtherValues: Boolean

  /** Whether Spark can bring other rows, clustered by `keys`, to the table. */
  def canShuffle(keys: Seq[Expression]): Boolean

  /** How rows by `keys` of the same types lie when they are brought to this table by `mine`. */
  def partitioningOf(mine: Seq[Expression], keys: Seq[Expression]): Partitioning

  /** Whether this table by `mine` and another by `theirs` can be joined as they lie. */
  def isCompatible(mine: Seq[Expression], other: KeyedTable, theirs: Seq[Expression]): Boolean
}
