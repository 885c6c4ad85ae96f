package io.firesteel.sinks.postgres

import io.firesteel.core.jdbc.Secrets
import io.firesteel.sinks.apply.ApplyErrors

import java.sql.{Connection, PreparedStatement, ResultSet, SQLException}

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.{Failure, Success, Try, Using}
import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.jdbc.{DriverRegistry, JDBCOptions}
import org.apache.spark.sql.jdbc.JdbcDialects

/**
 * Connections to one PostgreSQL database, by the options of Spark's JDBC source, from the driver
 * and from tasks. Errors contain no password.
 */
final private[postgres] class Postgres private (parameters: Map[String, String])
  extends Serializable {

  private val secrets = Secrets.of(parameters)

  @transient private lazy val options = new JDBCOptions(CaseInsensitiveMap(parameters))

  /** The table's name as the user wrote it. */
  def dbtable: String = options.tableOrQuery

  /** The table's name for messages. */
  def table: String = secrets.redact(dbtable)

  /** Runs `work` in a transaction; after a transient failure, again on a new connection. */
  def transaction[T](work: Connection => T): T = {
    @tailrec def attempt(left: Int, pause: Long): T = Try(once(work)) match {
      case Success(value) => value
      case Failure(e) if left > 0 && Postgres.mayPass(e) =>
        Thread.sleep(pause)
        attempt(left - 1, pause * 2)
      case Failure(e) if Postgres.chain(e).nonEmpty => throw failed(e)
      case Failure(e) => throw e
    }
    attempt(Postgres.retries, Postgres.firstPause)
  }

  private def once[T](work: Connection => T, open: () => Connection = () => this.open()): T =
    Using.resource(open()) { connection =>
      connection.setAutoCommit(false)
      try {
        val result = work(connection)
        connection.commit()
        result
      } catch {
        case NonFatal(e) =>
          Try(connection.rollback()) // the original error says more
          throw e
      }
    }

  /**
   * The same in a task. Only the login is tried again, before any row is read: Spark repeats tasks, but
   * at once, and not in local mode.
   */
  def inTask[T](work: Connection => T): T =
    try once(work, () => opened(Postgres.retries, Postgres.firstPause))
    catch { case NonFatal(e) if Postgres.chain(e).nonEmpty => throw failed(e) }

  private def failed(e: Throwable): Throwable = {
    val clean = secrets.clean(e)
    val said = Postgres.chain(clean).lastOption.getOrElse(clean)
    val reason = Option(said.getMessage).getOrElse(said.toString)
    ApplyErrors.databaseFailed(secrets.redact(options.url), table, reason, clean)
  }

  @tailrec private def opened(left: Int, pause: Long): Connection = Try(open()) match {
    case Success(connection) => connection
    case Failure(e) if left > 0 && Postgres.mayPass(e) =>
      Thread.sleep(pause)
      opened(left - 1, pause * 2)
    case Failure(e) => throw e
  }

  /**
   * Opens a plain login without Spark's provider, which logs the password at its finest level. All
   * other logins use Spark's.
   */
  private def open(): Connection = {
    val dialect = JdbcDialects.get(options.url)
    val connection =
      if (options.connectionProviderName.isDefined || options.keytab != null) {
        dialect.createConnectionFactory(options)(-1)
      } else {
        DriverRegistry.register(options.driverClass)
        DriverRegistry.get(options.driverClass).connect(options.url, options.asConnectionProperties)
      }
    try options.sessionInitStatement.foreach(Postgres.run(connection, _))
    catch {
      case NonFatal(e) =>
        Try(connection.close())
        throw e
    }
    connection
  }

  override def toString: String = s"Postgres($table)"
}

private[postgres] object Postgres {

  private val retries = 5
  private val firstPause = 100L
  private val driverClass = "org.postgresql.Driver"

  /**
   * Transient SQLSTATEs: connection lost, transaction rolled back, resources, server shutting down
   * or starting.
   */
  private val passing = Seq("08", "40", "53", "57P0")

  def apply(options: Map[String, String]): Postgres = {
    val written = CaseInsensitiveMap(options)
    Seq("url", "dbtable").foreach { option =>
      if (!written.contains(option)) throw ApplyErrors.missingOption(option)
    }
    if (!written("url").trim.startsWith("jdbc:postgresql:")) {
      throw ApplyErrors.badOption("url", "(not shown)", "jdbc:postgresql://host/database")
    }
    val driver = written.getOrElse("driver", driverClass)
    try DriverRegistry.register(driver)
    catch { case _: ClassNotFoundException => throw ApplyErrors.noDriver(driver) }
    // Named in the options, so that tasks find a driver of `spark.jars`, too.
    new Postgres(options.filterNot(_._1.equalsIgnoreCase("driver")) + ("driver" -> driver))
  }

  def run(connection: Connection, sql: String): Unit =
    Using.resource(connection.createStatement()) {
      statement =>
        val _ = statement.execute(sql)
    }

  def update(connection: Connection, sql: String)(arguments: Any*): Int =
    Using.resource(connection.prepareStatement(sql)) { statement =>
      bind(statement, arguments)
      statement.executeUpdate()
    }

  def query[T](connection: Connection, sql: String)(arguments: Any*)(read: ResultSet => T): Seq[T] =
    Using.resource(connection.prepareStatement(sql)) { statement =>
      bind(statement, arguments)
      val answer = statement.executeQuery()
      val rows = mutable.ArrayBuffer.empty[T]
      while (answer.next()) rows += read(answer)
      rows.toSeq
    }

  private def bind(statement: PreparedStatement, arguments: Seq[Any]): Unit =
    arguments.zipWithIndex.foreach {
      case (numbers: Array[Long], i) =>
        val boxed = numbers.map(java.lang.Long.valueOf).asInstanceOf[Array[AnyRef]]
        statement.setArray(i + 1, statement.getConnection.createArrayOf("bigint", boxed))
      case (value, i) => statement.setObject(i + 1, value)
    }

  def quoted(name: String): String = "\"" + name.replace("\"", "\"\"") + "\""

  private def mayPass(e: Throwable): Boolean = chain(e).exists { sql =>
    passing.exists(Option(sql.getSQLState).getOrElse("").startsWith)
  }

  private def chain(e: Throwable): Seq[SQLException] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(8).collect {
      case sql: SQLException => sql
    }.toSeq
}
