package io.firesteel.core.plans

import io.firesteel.core.decide.FiredOperator
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan, Statistics}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{LeafExecNode, ShufflePartitionSpec, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeExec, ShuffleExchangeLike, ShuffleOrigin}
import org.apache.spark.sql.firesteel.MapOutputStatistics
import org.apache.spark.sql.types.LongType

import scala.concurrent.Future

/** Plans that are read and never run: no session. */
private[core] object PlanStubs {

  val column: Attribute = AttributeReference("n", LongType)()

  final case class Leaf(name: String) extends LeafNode {
    override def output: Seq[Attribute] = Seq(column)
  }

  final case class LeafExec(name: String) extends LeafExecNode {
    override def output: Seq[Attribute] = Seq(column)
    override protected def doExecute(): RDD[InternalRow] = throw new IllegalStateException(name)
  }

  trait Above extends UnaryExecNode {
    override def output: Seq[Attribute] = child.output
    override protected def doExecute(): RDD[InternalRow] = child.execute()
  }

  final case class PlainExec(child: SparkPlan) extends Above {
    override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
      copy(child = newChild)
  }

  final case class GrowingExec(growth: Int, child: SparkPlan) extends Above with GrowsRows {
    override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
      copy(child = newChild)
  }

  final case class FiredExec(rule: String, child: SparkPlan, reports: Boolean = true)
    extends Above with FiredOperator {
    override def firedRule: String = rule
    override def firedMessage: String = "it fired"
    override def firedValues: Map[String, String] = Map("n" -> "1")
    override def reportsDecision: Boolean = reports
    override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
      copy(child = newChild)
  }

  /** The exchange of another extension: of its own class, in place of Spark's. */
  final case class OtherShuffle(spark: ShuffleExchangeExec) extends ShuffleExchangeLike {
    override def child: SparkPlan = spark.child
    override def numMappers: Int = spark.numMappers
    override def numPartitions: Int = spark.numPartitions
    override def advisoryPartitionSize: Option[Long] = spark.advisoryPartitionSize
    override def shuffleOrigin: ShuffleOrigin = spark.shuffleOrigin
    override def shuffleId: Int = spark.shuffleId
    override def outputPartitioning: Partitioning = spark.outputPartitioning
    override protected def mapOutputStatisticsFuture: Future[MapOutputStatistics] = unused
    override def getShuffleRDD(specs: Array[ShufflePartitionSpec]): RDD[_] = unused
    override def runtimeStatistics: Statistics = unused
    override protected def doExecute(): RDD[InternalRow] = unused
    private def unused: Nothing = throw new IllegalStateException(nodeName)
    override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
      copy(spark.withNewChildren(Seq(newChild)).asInstanceOf[ShuffleExchangeExec])
  }

  /** The operator as planned from a logical node. */
  def linked[P <: SparkPlan](plan: P, to: LogicalPlan): P = {
    plan.setLogicalLink(to)
    plan
  }
}
