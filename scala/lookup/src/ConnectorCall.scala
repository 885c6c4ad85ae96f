package io.firesteel.lookup

import io.firesteel.core.errors.{FiresteelAnalysisException, FiresteelException}
import scala.util.control.NonFatal

import org.apache.spark.TaskKilledException

/** Calls methods of connectors. Errors name the connector and the method. */
private[lookup] object ConnectorCall {

  /**
   * @param connector its name in the query
   * @param subject the key, task or columns that the call was about
   */
  def apply[T](connector: String, method: String, subject: => String)(call: => T): T =
    try call
    catch { case NonFatal(thrown) => throw failed(connector, method, subject, thrown) }

  /** The error for an exception. Errors of the built-in connectors already name everything. */
  def failed(connector: String, method: String, subject: String, thrown: Throwable): Throwable =
    thrown match {
      case _: FiresteelException | _: FiresteelAnalysisException | _: TaskKilledException => thrown
      case other => LookupErrors.methodFailed(connector, method, subject, other)
    }
}
