package io.firesteel.changelog.state

import io.firesteel.core.rows.ColumnProjection

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Literal, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning

/**
 * The key of an operator without keys: a constant column, so that all rows reach one partition of
 * the state.
 */
private[changelog] object WholeKey {

  private val value = Literal(0)

  /** The keys and the input; without keys, the constant key and the input with it. */
  def orWhole(keys: Seq[Attribute], input: LogicalPlan): (Seq[Attribute], LogicalPlan) =
    if (keys.nonEmpty) (keys, input)
    else {
      val whole = Alias(value, "whole")()
      (Seq(whole.toAttribute), Project(input.output :+ whole, input))
    }

  /** The partition that receives all rows. */
  def homeOf(numPartitions: Int): Int =
    HashPartitioning(Seq(value), numPartitions).partitionIdExpression
      .eval(InternalRow.empty)
      .asInstanceOf[Int]

  /** The key as a row. */
  def row(): UnsafeRow = ColumnProjection(Seq(value))(InternalRow.empty).copy()
}
