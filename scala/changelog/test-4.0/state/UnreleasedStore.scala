package io.firesteel.changelog.state

import org.apache.spark.sql.execution.streaming.state.StateStore

/** A store that readers do not release: they abort it. */
private[changelog] trait UnreleasedStore extends StateStore
