package org.apache.spark.sql.firesteel

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.physical.{Distribution, HashPartitioning, UnspecifiedDistribution}

/**
 * Rows by the number of their partition. The exchange of 4.0 takes hashes only, so this is one whose
 * hash is the number itself. It satisfies no requirement about keys.
 */
final private[firesteel] class ByNumber(number: Expression, count: Int)
  extends HashPartitioning(Seq(number), count) {

  override def partitionIdExpression: Expression = number

  override def satisfies0(required: Distribution): Boolean = required == UnspecifiedDistribution

  override protected def withNewChildrenInternal(
      newChildren: IndexedSeq[Expression]): HashPartitioning =
    new ByNumber(newChildren.head, count)

  override def canEqual(other: Any): Boolean = other.isInstanceOf[ByNumber]

  override def equals(other: Any): Boolean = other match {
    case that: ByNumber => super.equals(that)
    case _ => false
  }

  override def hashCode(): Int = 31 * super.hashCode() + 1
}
