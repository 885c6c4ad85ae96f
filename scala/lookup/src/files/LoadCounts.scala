package io.firesteel.lookup.files

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.firesteel.{countPeakMemory, Files}
import org.apache.spark.util.LongAccumulator

/**
 * What tasks have loaded, as accumulators that the UI and listeners show by task and stage.
 *
 * It also goes into the task's own input metrics. These alone would not do: a scan of files in the
 * same task sets them, in the end, to what it has read itself.
 */
private[files] final class LoadCounts(
    bytes: LongAccumulator,
    rows: LongAccumulator,
    buckets: LongAccumulator)
  extends Serializable {

  /** Adds up a task; to be called on its own thread, which reports the metrics. */
  def count(task: TaskContext, loaded: Loaded): Unit = {
    bytes.add(loaded.bytesRead)
    rows.add(loaded.rows)
    buckets.add(loaded.buckets)
    Files.countInput(task, loaded.bytesRead, loaded.rows)
    countPeakMemory(task, loaded.bytesHeld)
  }
}

/** What one task has loaded, and the bytes of all buckets that it used, loaded by whom ever. */
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
