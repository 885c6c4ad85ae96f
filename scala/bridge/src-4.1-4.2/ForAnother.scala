package org.apache.spark.sql.firesteel

import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.StateStoreInstanceMetric
import org.apache.spark.sql.firesteel.streaming.StateStoreWriter

/** Adds to the accumulators of another writer of state, which stays on the driver. */
private[firesteel] trait ForAnother extends StateStoreWriter {
  protected def of: StateStoreWriter
  override val checkpointInfoAccumulator = of.checkpointInfoAccumulator
  private val instances: Map[StateStoreInstanceMetric, SQLMetric] = of.instanceMetrics
  override lazy val instanceMetrics: Map[StateStoreInstanceMetric, SQLMetric] = instances
}
