package io.firesteel.changelog.checkpoint

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.WriteToStream

/**
 * Does what is left of a repartitioning whose entry in the offset log is written. It may have been done in
 * part, and is done again: files that are there are written over by the same.
 */
object FinishRepartition {

  private[checkpoint] def apply(checkpoint: Checkpoint): Unit =
    for {
      begun <- checkpoint.begun
      entry <- checkpoint.offset(begun)
      note <- entry.note
      partitions <- entry.partitions
    } {
      new StagedState(checkpoint, note.staged).place()
      checkpoint.noteOperators(begun - 1, partitions)
      // Where another process does the same, one of both writes it.
      val _ = checkpoint.commits.add(begun, note.commit.text)
      StagedState.removeUpTo(checkpoint, begun)
    }

  /**
   * When a query starts, before Spark looks at its checkpoint; as a check, since the plan stays as it is.
   */
  def atStart(session: SparkSession): LogicalPlan => Unit = {
    case write: WriteToStream =>
      val checkpoint = new Checkpoint(session, write.resolvedCheckpointLocation)
      if (checkpoint.exists) {
        apply(checkpoint)
        checkpoint.begun.filter(SparksRepartition.has(checkpoint, _)).foreach { begun =>
          throw CheckpointErrors.unfinishedBySpark(checkpoint.root.toString, begun)
        }
      }
    case _ => ()
  }
}
