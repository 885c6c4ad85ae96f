package io.firesteel.core.jdbc

import java.net.URLDecoder
import java.nio.charset.StandardCharsets.UTF_8
import java.sql.{SQLException, SQLNonTransientConnectionException, SQLRecoverableException}
import java.sql.SQLTransientException
import java.util.regex.{Matcher, Pattern}

import scala.jdk.CollectionConverters._
import scala.util.Try

/**
 * The passwords in one table's options; removes them from texts that people read.
 *
 * Some drivers put the URL into their messages, and the URL may contain `password=`. So the known
 * values are removed, and everything that looks like a password's setting.
 */
private[firesteel] final class Secrets private (values: Seq[String]) extends Serializable {
  import Secrets._

  def redact(text: String): String =
    if (text == null) null
    else {
      val known = values.foldLeft(text) { (t, value) =>
        occurrenceOf(value).matcher(t).replaceAll(Matcher.quoteReplacement(mark))
      }
      assignment.matcher(known).replaceAll("$1" + Matcher.quoteReplacement(mark))
    }

  def isIn(text: String): Boolean = redact(text) != text

  /**
   * The same exception if it contains no password; otherwise a redacted copy of it and of its
   * causes.
   *
   * A copy keeps everything that decides about a retry: the SQLSTATE, the vendor code and JDBC's
   * class.
   */
  def clean(e: Throwable): Throwable = if (isFree(e, depth)) e else copy(e, depth)

  private def isFree(e: Throwable, left: Int): Boolean =
    e == null || left == 0 || (!isIn(e.toString) && neighbours(e).forall(isFree(_, left - 1)))

  private def copy(e: Throwable, left: Int): Throwable = {
    val text = redact(e.getMessage)
    val copied = e match {
      case sql: SQLTransientException =>
        new SQLTransientException(text, sql.getSQLState, sql.getErrorCode)
      case sql: SQLRecoverableException =>
        new SQLRecoverableException(text, sql.getSQLState, sql.getErrorCode)
      case sql: SQLNonTransientConnectionException =>
        new SQLNonTransientConnectionException(text, sql.getSQLState, sql.getErrorCode)
      case sql: SQLException => new SQLException(text, sql.getSQLState, sql.getErrorCode)
      case other => new RuntimeException(s"${other.getClass.getName}: $text")
    }
    copied.setStackTrace(e.getStackTrace)
    if (left > 1) {
      Option(e.getCause).foreach(cause => copied.initCause(copy(cause, left - 1)))
      e.getSuppressed.foreach(other => copied.addSuppressed(copy(other, left - 1)))
      (e, copied) match {
        case (from: SQLException, to: SQLException) if from.getNextException != null =>
          to.setNextException(copy(from.getNextException, left - 1).asInstanceOf[SQLException])
        case _ => ()
      }
    }
    copied
  }

  override def toString: String = s"Secrets(${values.size})"
}

private[firesteel] object Secrets {

  private val mark = "*********(redacted)"

  /** Causes are followed to this depth: chains may be circular. */
  private val depth = 8

  private val names =
    "password|passwd|passphrase|pwd|secret|token|credential|access[._-]?key|api[._-]?key"
  private val secretName = Pattern.compile(s"(?i).*($names).*")

  /** `password=x`, in a URL or a list of properties. */
  private val assignment =
    Pattern.compile(s"(?i)((?:$names)[\\w.-]*\\s*=\\s*)(?!\\*)([^&;,)}\\s'\"]+)")

  /** The same inside a URL: there the value may contain spaces and commas. */
  private val parameter = Pattern.compile(s"(?i)(?:$names)[\\w.-]*=([^&;]+)")

  /** `//user:x@host`, and Oracle's `:user/x@`. */
  private val login = Pattern.compile("(?://[^/:@?]*:|:[^/:@?]*/)([^/@?]+)@")

  def of(options: Map[String, String]): Secrets = {
    val named = options.collect { case (key, value) if secretName.matcher(key).matches() => value }
    val url = options.collectFirst { case (key, value) if key.equalsIgnoreCase("url") => value }
    val all = named ++ url.toSeq.flatMap(inUrl)
    // The longest first: one may be part of another.
    new Secrets(all.filter(_.nonEmpty).toSeq.distinct.sortBy(-_.length))
  }

  /** As written, and as the driver decodes it. */
  private def inUrl(url: String): Seq[String] = {
    val written =
      Seq(assignment, parameter, login).flatMap(_.matcher(url).results().iterator().asScala)
        .map(found => found.group(found.groupCount()).trim)
    written ++ written.flatMap(text => Try(URLDecoder.decode(text, UTF_8)).toOption)
  }

  /** A short value is removed only as a whole word, or messages would be unreadable. */
  private def occurrenceOf(value: String): Pattern =
    if (value.length >= 4) Pattern.compile(Pattern.quote(value))
    else Pattern.compile(s"(?<![\\p{Alnum}_])${Pattern.quote(value)}(?![\\p{Alnum}_])")

  private def neighbours(e: Throwable): Seq[Throwable] =
    Seq(e.getCause) ++ e.getSuppressed ++ (e match {
      case sql: SQLException => Seq(sql.getNextException)
      case _ => Nil
    })
}
