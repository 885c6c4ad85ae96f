package io.firesteel.lookup.jdbc

import java.sql.{SQLException, SQLNonTransientConnectionException, SQLRecoverableException}
import java.sql.SQLTransientException
import java.util.concurrent.ThreadLocalRandom

import scala.annotation.tailrec
import scala.util.{Failure, Success, Try}

/**
 * Retries failures that may pass: a lost connection, a deadlock, a server that restarts or has too
 * many clients. Every other failure is final.
 */
private[jdbc] object Retry {

  private val firstPause = 100L
  private val longestPause = 10000L

  /**
   * SQL states: connection, transaction rolled back, resources, server shutting down or starting.
   */
  private val transientStates = Seq("08", "40", "53", "57P0")

  /** A refused login. A retry would only lock the account. */
  private val refusedLogin = "28"

  /** @param failed makes the error from the last failure and the number of attempts */
  def apply[T](maxRetries: Int, database: Database, goOn: () => Boolean)(attempt: => T)(
      failed: (Throwable, Int) => Throwable): T = {
    @tailrec def run(attempts: Int): T = Try(attempt) match {
      case Success(value) => value
      case Failure(e) if JdbcErrors.chain(e).nonEmpty => // Spark wraps what the database throws
        if (attempts > maxRetries || !goOn() || !isTransient(e, database)) throw failed(e, attempts)
        Thread.sleep(pauseAfter(attempts))
        run(attempts + 1)
      case Failure(other) => throw other
    }
    run(attempts = 1)
  }

  /** Doubled each time, up to 10 s, half of it random, so that tasks do not all return together. */
  private def pauseAfter(attempts: Int): Long = {
    val pause = longestPause.min(firstPause << (attempts - 1).min(20))
    pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1)
  }

  def isTransient(e: Throwable, database: Database): Boolean = {
    val all = JdbcErrors.chain(e)
    !all.exists(stateOf(_).startsWith(refusedLogin)) && all.exists {
      case _: SQLTransientException | _: SQLRecoverableException |
          _: SQLNonTransientConnectionException => true
      case other => transientStates.exists(stateOf(other).startsWith) || database.isTransient(other)
    }
  }

  def isRefusedLogin(e: Throwable): Boolean =
    JdbcErrors.chain(e).exists(stateOf(_).startsWith(refusedLogin))

  private def stateOf(e: SQLException): String = Option(e.getSQLState).getOrElse("")
}
