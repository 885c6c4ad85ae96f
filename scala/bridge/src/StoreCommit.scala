package org.apache.spark.sql.firesteel

import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.hadoop.conf.Configuration
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.execution.LeafExecNode
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.{StateSchemaValidationResult, StateStore}
import org.apache.spark.sql.firesteel.streaming.{StatefulOperatorStateInfo, StateStoreWriter}

/**
 * Commits a store in a task and tells what Spark's operators tell of theirs. The operator itself, with
 * all that is below it, stays on the driver: as a part of the task it would be serialized for each
 * stage and read again by each task, with the metrics of every operator below.
 */
final class StoreCommit(operator: StateStoreWriter) extends Serializable {
  private val teller = StoreCommit.Teller(operator.metrics, operator)

  /** @param nanos how long its entries were updated */
  def apply(store: StateStore, nanos: Long): Unit = teller.commit(store, nanos)
}

private object StoreCommit {

  /** Spark's code of an operator's metrics, without the operator. It is never run. */
  final private case class Teller(
      all: Map[String, SQLMetric],
      @transient protected val of: StateStoreWriter)
    extends LeafExecNode
    with ForAnother {
    override lazy val metrics: Map[String, SQLMetric] = all
    @transient override val pythonMetrics: Map[String, SQLMetric] = Map.empty
    override def stateInfo: Option[StatefulOperatorStateInfo] = None
    override def output: Seq[Attribute] = Nil
    override def shortName: String = "storeCommit"
    override protected def doExecute(): RDD[InternalRow] = throw new UnsupportedOperationException
    override def validateAndMaybeEvolveStateSchema(
        hadoopConf: Configuration,
        batchId: Long,
        stateSchemaVersion: Int): List[StateSchemaValidationResult] = Nil

    def commit(store: StateStore, nanos: Long): Unit = {
      longMetric("allUpdatesTimeMs") += NANOSECONDS.toMillis(nanos)
      longMetric("commitTimeMs") += timeTakenMs { val _ = store.commit() }
      setStoreMetrics(store)
      setOperatorMetrics()
    }
  }
}
