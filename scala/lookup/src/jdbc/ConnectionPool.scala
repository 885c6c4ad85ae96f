package io.firesteel.lookup.jdbc

import java.sql.{Connection, SQLException}
import java.util.concurrent.{ExecutorService, Executors, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import com.zaxxer.hikari.{HikariConfig, HikariDataSource, SQLExceptionOverride}

/** Connections to one database, at most `lookup.jdbc.pool-size`, opened when wanted. */
private[jdbc] final class ConnectionPool private (source: HikariDataSource, size: Int) {

  /** The threads of asynchronous lookups, started when wanted: more would only wait. */
  lazy val threads: ExecutorService = Executors.newFixedThreadPool(
    size,
    { task =>
      val thread = new Thread(task, s"${source.getPoolName}-lookup")
      thread.setDaemon(true)
      thread
    })

  /** Runs `work` with a connection of its own. */
  def use[T](work: Connection => T): T = {
    val connection = source.getConnection()
    try work(connection)
    finally connection.close()
  }

  /** Connections that are open. */
  def open: Int = source.getHikariPoolMXBean.getTotalConnections

  def close(): Unit = {
    threads.shutdown()
    source.close()
  }
}

private[jdbc] object ConnectionPool {

  private val number = new AtomicInteger

  /** Makes a pool and its first connection: a refused login fails now, and not by a time-out. */
  def apply(settings: JdbcSettings): ConnectionPool = {
    val connections = new Connections(settings)
    connections.openFirst()
    val config = new HikariConfig
    config.setPoolName(s"${JdbcProvider.name}-${number.incrementAndGet()}")
    // Neither URL nor password is Hikari's to know, or to log.
    config.setDataSource(connections)
    config.setMaximumPoolSize(settings.poolSize)
    config.setMinimumIdle(0)
    config.setIdleTimeout(TimeUnit.MINUTES.toMillis(1))
    config.setInitializationFailTimeout(-1)
    config.setExceptionOverride(new NotAgain(Database.of(settings.options.url)))
    new ConnectionPool(new HikariDataSource(config), settings.poolSize)
  }

  /**
   * A connection on which something failed that is worth trying again is not used again. (Hikari's
   * `evictConnection` does nothing when its package is renamed, as in our jar: it compares names.)
   */
  private final class NotAgain(database: Database) extends SQLExceptionOverride {
    override def adjudicate(e: SQLException): SQLExceptionOverride.Override =
      if (Retry.isTransient(e, database)) SQLExceptionOverride.Override.MUST_EVICT
      else SQLExceptionOverride.Override.CONTINUE_EVICT
  }
}
