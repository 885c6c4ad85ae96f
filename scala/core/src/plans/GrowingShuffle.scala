package io.firesteel.core.plans

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.logical.Statistics
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{ShufflePartitionSpec, SparkPlan}
import org.apache.spark.sql.execution.exchange.{ShuffleExchangeLike, ShuffleOrigin}
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.firesteel.{MapOutputStatistics, ShuffleJob}
import org.apache.spark.sql.vectorized.ColumnarBatch

import scala.concurrent.Future

/**
 * An exchange inside an operator that emits more rows than the exchange carries. It is `shuffle`,
 * of whatever class, in all but its statistics.
 *
 * Adaptive execution takes the row count and size of a finished exchange for those of the whole
 * logical node (Spark: `LogicalQueryStage`). That is safe if a final aggregate only merges. For an
 * exchange of panes, blocks or lookup keys Spark would remove a `LIMIT`, `DISTINCT` or `ORDER BY`
 * above it, and broadcast a result that is far too large. So this exchange reports a row count only
 * if it is 0, and the size that the operator's result may have.
 *
 * It is no `ShuffleExchangeExec`: an extension that replaces Spark's exchanges by its own, as
 * DataFusion Comet does, goes by that class, and its exchange would report what it carries.
 *
 * @param growth bytes of the result per byte in the exchange, by estimate
 */
private[firesteel] final case class GrowingShuffle(shuffle: ShuffleExchangeLike, growth: Int)
  extends ShuffleExchangeLike {

  override def child: SparkPlan = shuffle.child

  override def runtimeStatistics: Statistics = {
    val carried = shuffle.runtimeStatistics
    carried.copy(
      sizeInBytes = carried.sizeInBytes * growth,
      rowCount = carried.rowCount.filter(_ == 0))
  }

  override protected def mapOutputStatisticsFuture: Future[MapOutputStatistics] =
    new ShuffleJob(shuffle)

  override def numMappers: Int = shuffle.numMappers
  override def numPartitions: Int = shuffle.numPartitions
  override def advisoryPartitionSize: Option[Long] = shuffle.advisoryPartitionSize
  override def shuffleOrigin: ShuffleOrigin = shuffle.shuffleOrigin
  override def shuffleId: Int = shuffle.shuffleId
  override def getShuffleRDD(specs: Array[ShufflePartitionSpec]): RDD[_] =
    shuffle.getShuffleRDD(specs)

  override def outputPartitioning: Partitioning = shuffle.outputPartitioning
  override def supportsColumnar: Boolean = shuffle.supportsColumnar
  override def supportsRowBased: Boolean = shuffle.supportsRowBased
  override def metrics: Map[String, SQLMetric] = shuffle.metrics
  override protected def doExecute(): RDD[InternalRow] = shuffle.execute()
  override protected def doExecuteColumnar(): RDD[ColumnarBatch] = shuffle.executeColumnar()

  override def nodeName: String = shuffle.nodeName
  override def stringArgs: Iterator[Any] = shuffle.stringArgs

  override protected def doCanonicalize(): SparkPlan =
    copy(shuffle.canonicalized.asInstanceOf[ShuffleExchangeLike])

  override protected def withNewChildInternal(newChild: SparkPlan): GrowingShuffle =
    copy(shuffle.withNewChildren(Seq(newChild)).asInstanceOf[ShuffleExchangeLike])
}

private[firesteel] object GrowingShuffle {

  def of(shuffle: ShuffleExchangeLike, growth: Int): GrowingShuffle = {
    val growing = GrowingShuffle(shuffle, growth)
    growing.copyTagsFrom(shuffle)
    growing
  }
}
