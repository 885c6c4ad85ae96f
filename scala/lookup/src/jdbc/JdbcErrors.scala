package io.firesteel.lookup.jdbc

import io.firesteel.core.errors.{FiresteelAnalysisException, FiresteelException}
import java.sql.SQLException

/** Errors of this connector. */
private[jdbc] object JdbcErrors {

  private val prefix = "FIRESTEEL_LOOKUP_JDBC"

  def missingOption(option: String): Throwable =
    new FiresteelAnalysisException(s"${prefix}_MISSING_OPTION", Map("option" -> option))

  def noDriver(what: String, url: String): Throwable =
    new FiresteelAnalysisException(s"${prefix}_NO_DRIVER", Map("what" -> what, "url" -> url))

  /**
   * The error for a failure of the database.
   *
   * @param sql the statement; empty while connecting
   */
  def ofFailure(
      settings: JdbcSettings,
      sql: String,
      failure: Throwable,
      attempts: Int): Throwable = {
    val cause = settings.secrets.clean(failure)
    val shared = Map("table" -> settings.shownTable, "reason" -> reasonOf(cause))
    def error(condition: String, more: (String, String)*): Throwable =
      new FiresteelException(s"${prefix}_$condition", shared ++ more, Some(cause))
    val url = "url" -> settings.shownUrl
    val database = Database.of(settings.options.url)
    if (Retry.isRefusedLogin(failure)) error("LOGIN_REFUSED", url)
    else if (Retry.isTransient(failure, database)) {
      error("UNAVAILABLE", url, "attempts" -> attempts.toString)
    } else if (sql.isEmpty) error("NOT_CONNECTED", url)
    else error("QUERY_FAILED", "sql" -> settings.secrets.redact(sql))
  }

  def unknownColumn(
      settings: JdbcSettings,
      column: String,
      columns: Seq[String],
      cause: Throwable): Throwable =
    new FiresteelException(
      s"${prefix}_UNKNOWN_COLUMN",
      Map(
        "table" -> settings.shownTable,
        "column" -> column,
        "columns" -> columns.mkString(", ")),
      Some(settings.secrets.clean(cause))
    )

  /** The database's exception with all causes and JDBC's list of further exceptions. */
  def chain(e: Throwable): Seq[SQLException] = {
    val seen = scala.collection.mutable.LinkedHashSet.empty[Throwable]
    def add(one: Throwable): Unit = if (one != null && seen.add(one)) {
      add(one.getCause)
      one match {
        case sql: SQLException => add(sql.getNextException)
        case _ => ()
      }
    }
    add(e)
    seen.toSeq.collect { case sql: SQLException => sql }
  }

  /** The database's own message; for a pool's timeout it is in the cause. */
  private def reasonOf(failure: Throwable): String = {
    val said = chain(failure).lastOption.getOrElse(failure)
    Option(said.getMessage).getOrElse(said.getClass.getName).linesIterator.take(3).mkString(" ")
  }
}
