package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, Unevaluable}
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, Distribution, Partitioning, PartitioningCollection, ShuffleSpec}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * Rows that are equal in `by` are in one partition, in which one is not said.
 *
 * So it is where rows are spread by `CAST(a AS BIGINT)`: those with one `a` are together. Spark's hash
 * partitioning knows that of its very expressions alone. It never makes two inputs of a join fit.
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
 * Adds to what is known of where its input's rows lie, and does nothing else.
 *
 * @param keys by which the rows are spread
 * @param columns of which the keys are functions
 */
private[shuffle] final case class TogetherExec(
    keys: Seq[Expression],
    columns: Seq[Attribute],
    child: SparkPlan)
  extends PassesRows {

  override def outputPartitioning: Partitioning = {
    val known = child.outputPartitioning
    // Adaptive execution may have a shuffle read otherwise than it was written.
    if (known.satisfies(ClusteredDistribution(keys, requireAllClusterKeys = false)))
      PartitioningCollection(Seq(known, Together(columns, known.numPartitions)))
    else known
  }

  override protected def withNewChildInternal(newChild: SparkPlan): TogetherExec =
    copy(child = newChild)
}
