package org.apache.spark.sql.firesteel

import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager

/** The base of a checkpoint file manager of ours. Spark closes managers since 4.1. */
trait CheckpointFiles extends CheckpointFileManager {
  def close(): Unit = ()
}

object CheckpointFiles {
  def close(manager: CheckpointFileManager): Unit = manager match {
    case ours: CheckpointFiles => ours.close()
    case _ => ()
  }
}
