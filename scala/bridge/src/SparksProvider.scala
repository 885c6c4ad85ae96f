package org.apache.spark.sql.firesteel

import org.apache.spark.sql.execution.streaming.state.{HDFSBackedStateStoreProvider, StateStoreProvider}

object SparksProvider {

  /** Spark's in-memory provider. */
  def apply(): StateStoreProvider = new HDFSBackedStateStoreProvider
}
