package io.firesteel.lookup

import io.firesteel.core.errors.{FiresteelAnalysisException, FiresteelException}
import scala.util.control.NonFatal

import org.apache.spark.TaskKilledException

/** Calls methods of connectors, whose failures are told with the connector's name. */
private[lookup] object ConnectorCall {

  /**
   * @param connector as the query knows it
   * @param subject what the method was called about: a key, a task
   */
  def apply[T](connector: String, method: String, subject: => String)(call: => T): T =
    try call
    catch { case NonFatal(thrown) => throw failed(connector, method, subject, thrown) }

  /** The error for what a method threw; our own connectors' errors say all that is to be said. */
  def failed(connector: String, method: String, subject: String, thrown: Throwable): Throwable =
    thrown match {
      case _: FiresteelException | _: FiresteelAnalysisException | _: TaskKilledException => thrown
      case other => LookupErrors.methodFailed(connector, method, subject, other)
    }
}
