package io.firesteel.lookup.files

import java.util.concurrent.{ScheduledThreadPoolExecutor, TimeUnit}
import java.util.concurrent.locks.ReentrantLock

import scala.collection.mutable

/**
 * The loaded buckets of this executor process, shared by all tasks.
 *
 * The first task that asks for a bucket loads it; others wait. It is kept while a task uses it and
 * for its idle time after, so that the next micro-batch finds it. It is dropped earlier if its
 * files change or if memory is short.
 *
 * Limit: Spark's operators cannot evict an idle bucket when they need memory.
 */
private[files] object LoadedBuckets {

  private[files] final class Entry(val id: BucketId, val idleNanos: Long) {
    val loading: ReentrantLock = new ReentrantLock
    @volatile var index: BucketIndex = _
    var users: Int = 0
    var idleSince: Long = 0L
    var watched: Boolean = false
  }

  /** Guarded by this object's monitor, as are the entries' variables except the index. */
  private val entries = mutable.HashMap.empty[BucketId, Entry]

  private lazy val watch: ScheduledThreadPoolExecutor = {
    val made = new ScheduledThreadPoolExecutor(1, (run: Runnable) => newThread(run))
    made.setKeepAliveTime(1, TimeUnit.MINUTES)
    made.allowCoreThreadTimeOut(true)
    made
  }

  /** A bucket, loaded if it is absent. Release it once. A failure of `load` is raised. */
  def lease(id: BucketId, idleMillis: Long)(load: => BucketIndex): Lease = {
    val entry = enter(id, idleMillis)
    var filled = false
    try {
      entry.loading.lockInterruptibly()
      try if (entry.index == null) {
          entry.index = load
          dropOlder(id)
        }
      finally entry.loading.unlock()
      filled = true
      new Lease(entry)
    } finally if (!filled) leave(entry)
  }

  /** Drops every bucket that no task uses. */
  def dropIdle(): Unit = drop(_ => true)

  /** The number of buckets, used and idle. */
  def size: Int = synchronized(entries.size)

  /** Bytes of all buckets. */
  def bytes: Long = synchronized(entries.values.filter(_.index != null).map(_.index.bytes).sum)

  private[files] def leave(entry: Entry): Unit = synchronized {
    entry.users -= 1
    if (entry.users == 0) {
      entry.idleSince = System.nanoTime()
      if (entry.index == null || entry.idleNanos == 0) remove(entry)
      else if (!entry.watched) watchFor(entry, entry.idleNanos)
    }
  }

  private def enter(id: BucketId, idleMillis: Long): Entry = synchronized {
    val entry =
      entries.getOrElseUpdate(id, new Entry(id, TimeUnit.MILLISECONDS.toNanos(idleMillis)))
    entry.users += 1
    entry
  }

  /** Drops the bucket with the older files. */
  private def dropOlder(id: BucketId): Unit =
    drop(e => e.id.bucket == id.bucket && e.id.files != id.files && e.id.origin == id.origin)

  private def drop(which: Entry => Boolean): Unit = synchronized {
    entries.values.filter(e => e.users == 0 && which(e)).toSeq.foreach(remove)
  }

  private def remove(entry: Entry): Unit = {
    val _ = entries.remove(entry.id)
    if (entry.index != null) entry.index.release()
  }

  private def watchFor(entry: Entry, nanos: Long): Unit = {
    entry.watched = true
    val _ = watch.schedule((() => lookAt(entry)): Runnable, nanos, TimeUnit.NANOSECONDS)
  }

  private def lookAt(entry: Entry): Unit = synchronized {
    entry.watched = false
    if (entry.users == 0 && entries.get(entry.id).contains(entry)) {
      val left = entry.idleNanos - (System.nanoTime() - entry.idleSince)
      if (left <= 0) remove(entry) else watchFor(entry, left)
    }
  }

  private def newThread(run: Runnable): Thread = {
    val thread = new Thread(run, "firesteel-files-idle-buckets")
    thread.setDaemon(true)
    thread
  }
}

/** The use of a loaded bucket. */
private[files] final class Lease(entry: LoadedBuckets.Entry) {

  def index: BucketIndex = entry.index

  def release(): Unit = LoadedBuckets.leave(entry)
}
