package io.firesteel.changelog.state

import org.apache.spark.sql.execution.streaming.state.StateStore

/** A store that need not be released. */
private[changelog] trait UnreleasedStore extends StateStore {
  override def release(): Unit = ()
}
