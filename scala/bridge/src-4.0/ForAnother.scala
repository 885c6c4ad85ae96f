package org.apache.spark.sql.firesteel

import org.apache.spark.sql.firesteel.streaming.StateStoreWriter

/** Adds to the accumulators of another writer of state, which stays on the driver. */
private[firesteel] trait ForAnother extends StateStoreWriter {
  protected def of: StateStoreWriter
  override val checkpointInfoAccumulator = of.checkpointInfoAccumulator
}
