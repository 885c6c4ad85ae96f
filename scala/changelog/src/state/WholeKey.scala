package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Literal, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning

/**
 * The key of an operator that has none: a constant column, by which all rows come to one partition
 * of the state.
 */
private[changelog] object WholeKey {

  private val value = Literal(0)

  /** The keys, or the constant one where there are none, and the input with it. */
  def orWhole(keys: Seq[Attribute], input: LogicalPlan): (Seq[Attribute], LogicalPlan) =
    if (keys.nonEmpty) (keys, input)
    else {
      val whole = Alias(value, "whole")()
      (Seq(whole.toAttribute), Project(input.output :+ whole, input))
    }

  /** The partition that has the rows. */
  def homeOf(numPartitions: Int): Int =
    HashPartitioning(Seq(value), numPartitions).partitionIdExpression
      .eval(InternalRow.empty)
      .asInstanceOf[Int]

  /** The key as a row. */
  def row(): UnsafeRow = UnsafeProjection.create(Seq(value))(InternalRow.empty).copy()
}
