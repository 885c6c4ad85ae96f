package io.firesteel.changelog.checkpoint

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.WriteToStream
import org.apache.spark.sql.firesteel.streaming.FileStreamSink

/**
 * Completes a repartitioning whose entry in the offset log was written. Parts of it may be done
 * already; they are done again, and files are overwritten by equal ones.
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
      // If another process does the same, one of the two writes the entry.
      val _ = checkpoint.commits.add(begun, note.commit.text)
      StagedState.removeUpTo(checkpoint, begun)
    }

  /**
   * Runs when a query starts, before Spark reads its checkpoint. It is a check, because the plan
   * stays as it is.
   */
  def atStart(session: SparkSession): LogicalPlan => Unit = {
    case write: WriteToStream =>
      val checkpoint = new Checkpoint(session, write.resolvedCheckpointLocation)
      if (checkpoint.exists) {
        apply(checkpoint)
        checkpoint.begun.filter(SparksRepartition.has(checkpoint, _)).foreach { begun =>
          throw CheckpointErrors.unfinishedBySpark(checkpoint.root.toString, begun)
        }
        tellSink(session, write, checkpoint)
      }
    case _ => ()
  }

  /**
   * Spark's sink for files has a log of its own, in which no micro-batch may be missing. It has not
   * seen those that were a repartitioning, and gets them without rows.
   */
  private def tellSink(
      session: SparkSession,
      write: WriteToStream,
      checkpoint: Checkpoint): Unit = write.sink match {
    case files: FileStreamSink =>
      val batches = checkpoint.commits.last.toSeq.flatMap { last =>
        Iterator.iterate(last)(_ - 1)
          .takeWhile(batch => checkpoint.offset(batch).exists(_.note.nonEmpty)).toSeq
      }
      batches.reverse.foreach { batch =>
        val none = java.util.Collections.emptyList[Row]
        files.addBatch(batch, session.createDataFrame(none, write.inputQuery.schema))
      }
    case _ => ()
  }
}
