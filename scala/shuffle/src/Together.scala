package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Unevaluable}
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, Distribution, Partitioning, PartitioningCollection, ShuffleSpec}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * Rows with equal values of `by` are in one partition; which one is not said.
 *
 * Example: rows that are spread by `CAST(a AS BIGINT)` are also together by `a`. Spark's hash
 * partitioning reports only its own expressions. This partitioning never lets two inputs of a join
 * match.
 */
private[shuffle] final case class Together(by: Seq[Expression], override val numPartitions: Int)
  extends Expression
  with Partitioning
  with Unevaluable {

  override def children: Seq[Expression] = by
  override def nullable: Boolean = false
  override def dataType: DataType = IntegerType

  override def satisfies0(required: Distribution): Boolean = super.satisfies0(required) || {
    required match {
      case clustered: ClusteredDistribution if !clustered.requireAllClusterKeys =>
        by.forall(key => clustered.clustering.exists(_.semanticEquals(key)))
      case _ => false
    }
  }

  override def createShuffleSpec(distribution: ClusteredDistribution): ShuffleSpec =
    Together.FitsNothing(numPartitions)

  override protected def withNewChildrenInternal(children: IndexedSeq[Expression]): Together =
    copy(by = children)
}

private[shuffle] object Together {

  private final case class FitsNothing(override val numPartitions: Int) extends ShuffleSpec {
    override def isCompatibleWith(other: ShuffleSpec): Boolean = false
    override def canCreatePartitioning: Boolean = false
  }
}

/**
 * Adds a partitioning that its input satisfies and Spark does not see. It changes no row.
 *
 * @param keys the expressions that rows are spread by
 * @param columns the columns that the keys are functions of
 */
private[shuffle] final case class TogetherExec(
    keys: Seq[Expression],
    columns: Seq[Attribute],
    child: SparkPlan)
  extends PassesRows {

  override def outputPartitioning: Partitioning = {
    val known = child.outputPartitioning
    // Adaptive execution may read a shuffle in another way than it was written.
    if (known.satisfies(ClusteredDistribution(keys, requireAllClusterKeys = false)))
      PartitioningCollection(Seq(known, Together(columns, known.numPartitions)))
    else known
  }

  override protected def withNewChildInternal(newChild: SparkPlan): TogetherExec =
    copy(child = newChild)
}
