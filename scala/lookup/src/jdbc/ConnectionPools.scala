package io.firesteel.lookup.jdbc

import java.util.concurrent.{Executors, ScheduledExecutorService, TimeUnit}

import scala.collection.mutable
import scala.util.control.NonFatal

/**
 * The pools of this process: one for each set of connection settings, shared by all tasks.
 *
 * A pool that no task uses stays open for some minutes, because the next micro-batch or stage will
 * use it. Then it is closed.
 */
private[jdbc] final class ConnectionPools(idleMillis: Long) {

  private final class Shared(settings: JdbcSettings) {
    var holders: Int = 0
    var releases: Long = 0L
    @volatile private var made: Option[ConnectionPool] = None

    /** Made outside of the lock of all pools, so that a hanging server blocks no other pool. */
    def pool: ConnectionPool = synchronized {
      if (made.isEmpty) made = Some(ConnectionPool(settings))
      made.get
    }

    def close(): Unit = made.foreach(_.close())
  }

  private[this] val shared = mutable.HashMap.empty[Map[String, String], Shared]

  private[this] lazy val closer: ScheduledExecutorService =
    Executors.newSingleThreadScheduledExecutor { task =>
      val thread = new Thread(task, "firesteel-jdbc-idle-pools")
      thread.setDaemon(true)
      thread
    }

  /** The pool for these settings. Each caller that acquires it must release it. */
  def acquire(settings: JdbcSettings): ConnectionPool = {
    val found = synchronized {
      val known = shared.getOrElseUpdate(settings.connectionKey, new Shared(settings))
      known.holders += 1
      known
    }
    try found.pool
    catch {
      case NonFatal(e) =>
        release(settings)
        throw e
    }
  }

  def release(settings: JdbcSettings): Unit = synchronized {
    val key = settings.connectionKey
    shared.get(key).foreach { found =>
      found.holders -= 1
      found.releases += 1
      val releases = found.releases
      if (found.holders == 0) {
        val task: Runnable = () => closeIfIdle(key, releases)
        val _ = closer.schedule(task, idleMillis, TimeUnit.MILLISECONDS)
      }
    }
  }

  /** Only if no task has used it since; otherwise a later check is scheduled. */
  private def closeIfIdle(key: Map[String, String], releases: Long): Unit = {
    val idle = synchronized {
      val found = shared.get(key).filter(one => one.holders == 0 && one.releases == releases)
      found.foreach(_ => shared.remove(key))
      found
    }
    idle.foreach(_.close())
  }

  /** A holder's part of the pool's connections, at least one. */
  def share(settings: JdbcSettings): Int = synchronized {
    val holders = shared.get(settings.connectionKey).fold(1)(_.holders.max(1))
    (settings.poolSize / holders).max(1)
  }

  def size: Int = synchronized(shared.size)
}

private[jdbc] object ConnectionPools {

  private val instance = new ConnectionPools(TimeUnit.MINUTES.toMillis(5))

  def acquire(settings: JdbcSettings): ConnectionPool = instance.acquire(settings)

  def release(settings: JdbcSettings): Unit = instance.release(settings)

  def share(settings: JdbcSettings): Int = instance.share(settings)
}
