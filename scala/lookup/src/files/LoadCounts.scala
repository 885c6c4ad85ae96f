package io.firesteel.lookup.files

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.firesteel.{countPeakMemory, Files}
import org.apache.spark.util.LongAccumulator

/**
 * Counts of loads, as accumulators that the UI and listeners show by task and stage.
 *
 * The counts also go into the task's input metrics. These would not be enough: a file scan in the
 * same task overwrites them at its end.
 */
private[files] final class LoadCounts(
    bytes: LongAccumulator,
    rows: LongAccumulator,
    buckets: LongAccumulator)
  extends Serializable {

  /** Adds the counts of a task. Call it in the task's thread, which reports the metrics. */
  def count(task: TaskContext, loaded: Loaded): Unit = {
    bytes.add(loaded.bytesRead)
    rows.add(loaded.rows)
    buckets.add(loaded.buckets)
    Files.countInput(task, loaded.bytesRead, loaded.rows)
    countPeakMemory(task, loaded.bytesHeld)
  }
}

/** The loads of one task, and the bytes of all buckets that it used, whichever task loaded them. */
private[files] final case class Loaded(
    bytesRead: Long = 0L,
    rows: Long = 0L,
    buckets: Long = 0L,
    bytesHeld: Long = 0L)

private[files] object LoadCounts {
  val bytesRead = "firesteel-files: bytes read"
  val rowsLoaded = "firesteel-files: rows loaded"
  val bucketsLoaded = "firesteel-files: buckets loaded"

  def of(context: SparkContext): LoadCounts =
    new LoadCounts(
      context.longAccumulator(bytesRead),
      context.longAccumulator(rowsLoaded),
      context.longAccumulator(bucketsLoaded))
}
