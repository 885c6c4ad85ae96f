package io.firesteel.lookup.jdbc

import java.sql.{Connection, SQLException}
import java.util.concurrent.{ExecutorService, Executors, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger

import com.zaxxer.hikari.{HikariConfig, HikariDataSource, SQLExceptionOverride}

/** Connections to one database, at most `lookup.jdbc.pool-size`, opened on demand. */
private[jdbc] final class ConnectionPool private (
    source: HikariDataSource,
    connections: Connections,
    size: Int) {

  // Drivers are found by the class loader of a task.
  private val loader = Thread.currentThread.getContextClassLoader

  /** Threads of asynchronous lookups, started on demand; more than connections would only wait. */
  lazy val threads: ExecutorService = Executors.newFixedThreadPool(
    size,
    { task =>
      val thread = new Thread(task, s"${source.getPoolName}-lookup")
      thread.setDaemon(true)
      thread.setContextClassLoader(loader)
      thread
    })

  /** Runs `work` with a connection of its own. */
  def use[T](work: Connection => T): T = {
    val connection = source.getConnection()
    try work(connection)
    finally connection.close()
  }

  /** The number of open connections. */
  def open: Int = source.getHikariPoolMXBean.getTotalConnections

  def close(): Unit = {
    threads.shutdown()
    source.close()
    connections.close()
  }
}

private[jdbc] object ConnectionPool {

  private val number = new AtomicInteger

  /** Makes a pool and its first connection, so that a refused login fails at once. */
  def apply(settings: JdbcSettings): ConnectionPool = {
    val connections = new Connections(settings)
    connections.openFirst()
    val config = new HikariConfig
    config.setPoolName(s"${JdbcProvider.name}-${number.incrementAndGet()}")
    // Hikari gets neither the URL nor the password, so it cannot log them.
    config.setDataSource(connections)
    config.setMaximumPoolSize(settings.poolSize)
    config.setMinimumIdle(0)
    config.setIdleTimeout(TimeUnit.MINUTES.toMillis(1))
    config.setInitializationFailTimeout(-1)
    config.setExceptionOverride(new NotAgain(Database.of(settings.options.url)))
    val source =
      try new HikariDataSource(config)
      catch {
        case refused: Throwable =>
          connections.close()
          throw refused
      }
    new ConnectionPool(source, connections, settings.poolSize)
  }

  /**
   * Drops a connection after a failure that is worth a retry. Hikari's `evictConnection` compares
   * class names, and does nothing in our jar, which renames the package.
   */
  private final class NotAgain(database: Database) extends SQLExceptionOverride {
    override def adjudicate(e: SQLException): SQLExceptionOverride.Override =
      if (Retry.isTransient(e, database)) SQLExceptionOverride.Override.MUST_EVICT
      else SQLExceptionOverride.Override.CONTINUE_EVICT
  }
}
