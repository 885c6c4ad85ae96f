package org.apache.spark.sql.firesteel

import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager

/** The base of a checkpoint file manager of ours. */
trait CheckpointFiles extends CheckpointFileManager

object CheckpointFiles {
  def close(manager: CheckpointFileManager): Unit = manager.close()
}
