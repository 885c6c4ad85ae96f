package io.firesteel.lookup.files

import org.apache.spark.sql.firesteel.StoragePool

/**
 * Spark's permission to keep one bucket, out of storage memory: like a cached table, a bucket
 * outlives the task that loads it, and no task's execution memory does.
 *
 * @param makeRoom gives back what nobody uses, when Spark refuses
 * @param refused the error when it still refuses, of the bytes held, wanted and free
 */
private[files] final class StorageMemory(
    pool: StoragePool,
    owner: String,
    makeRoom: () => Unit,
    refused: (Long, Long, Long) => Throwable) {

  private[this] var granted: Long = 0L

  def held: Long = granted

  /** Takes `bytes` more, or throws. */
  def take(bytes: Long): Unit = {
    if (!pool.acquire(owner, bytes)) {
      makeRoom()
      if (!pool.acquire(owner, bytes)) throw refused(granted, bytes, pool.freeBytes)
    }
    granted += bytes
  }

  def giveBack(bytes: Long): Unit = {
    pool.release(bytes)
    granted -= bytes
  }

  def giveBackAll(): Unit = giveBack(granted)
}
