package io.firesteel.lookup.files

import org.apache.spark.TaskContext

/**
 * The buckets that one task uses, each loaded on its first use.
 *
 * If a lookup has timed out, `close` may be called while another thread still loads. That thread
 * then releases its bucket.
 */
private[files] final class OpenBuckets(source: BucketSource, task: TaskContext)
  extends (Int => BucketIndex) {

  private[this] val leases = new Array[Lease](source.layout.buckets)
  private[this] lazy val loader = new BucketLoader(source, task)
  private[this] var loaded = Loaded()
  private[this] var closed = false

  override def apply(bucket: Int): BucketIndex =
    if (source.files(bucket).isEmpty) BucketIndex.empty
    else {
      if (leases(bucket) == null) open(bucket)
      leases(bucket).index
    }

  /** Releases all buckets and reports the loads; in the task's thread, once or more. */
  def close(): Unit = {
    val first = synchronized {
      val first = !closed
      closed = true
      first
    }
    if (first) {
      leases.foreach(lease => if (lease != null) lease.release())
      source.counts.count(task, loaded)
    }
  }

  private def open(bucket: Int): Unit = {
    var more = Loaded()
    val lease = LoadedBuckets.lease(source.id(bucket), source.idleMillis) {
      val (index, bytesRead) = loader.load(bucket)
      more = Loaded(bytesRead, index.rows, 1L, 0L)
      index
    }
    val inTime = synchronized {
      if (!closed) {
        leases(bucket) = lease
        loaded = Loaded(
          loaded.bytesRead + more.bytesRead,
          loaded.rows + more.rows,
          loaded.buckets + more.buckets,
          loaded.bytesHeld + lease.index.bytes)
      }
      !closed
    }
    if (!inTime) {
      lease.release()
      throw new IllegalStateException(s"asked for bucket $bucket after the task has ended")
    }
  }
}
