package io.firesteel.lookup.files

import org.apache.spark.sql.firesteel.StoragePool

/**
 * Reserves storage memory for one bucket. As with a cached table, a bucket outlives the task that
 * loads it, so a task's execution memory does not fit.
 *
 * @param makeRoom frees unused buckets if Spark refuses
 * @param refused the error if Spark still refuses, from the bytes held, wanted and free
 */
private[files] final class StorageMemory(
    pool: StoragePool,
    owner: String,
    makeRoom: () => Unit,
    refused: (Long, Long, Long) => Throwable) {

  private[this] var granted: Long = 0L

  def held: Long = granted

  /** Reserves `bytes` more, or throws. */
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
