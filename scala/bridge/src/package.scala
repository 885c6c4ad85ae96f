package org.apache.spark.sql

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.internal.config
import org.apache.spark.memory.TaskMemoryManager
import org.apache.spark.sql.catalyst.QueryPlanningTracker
import org.apache.spark.sql.catalyst.expressions.{CollationKey, Expression}
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.{CommandExecutionMode, QueryExecution}
import org.apache.spark.sql.execution.streaming.runtime.StreamingQueryWrapper
import org.apache.spark.sql.streaming.StreamingQuery
import org.apache.spark.sql.types.StringType

/**
 * The one door to what Spark keeps to itself: aliases and forwards, no logic.
 *
 * Only this module knows the Spark version; everything else of firesteel compiles against it and
 * against Spark's public classes.
 */
package object firesteel {

  /** `private[spark]`; rooms need the name to give their settings a written type. */
  type ConfigEntry[T] = config.ConfigEntry[T]

  /** The memory manager of a running task, `private[spark]` on `TaskContext`. */
  def taskMemory(task: TaskContext): TaskMemoryManager = task.taskMemoryManager()

  /** Adds an operator's peak to a task's own, `private[spark]` on `TaskMetrics`. */
  def countPeakMemory(task: TaskContext, bytes: Long): Unit =
    task.taskMetrics().incPeakExecutionMemory(bytes)

  /** Bytes of one page of execution memory, the unit in which Spark's sorters ask for memory. */
  def pageSizeBytes: Long = SparkEnv.get.memoryManager.pageSizeBytes

  /** Replaces collated strings by keys that are equal in binary when the strings are equal. */
  def binaryKey(key: Expression): Expression = CollationKey.injectCollationKey(key)

  /** Whether strings of this type are ordered by their bytes, as UTF8_BINARY is. */
  def comparesBytes(string: StringType): Boolean = string.supportsBinaryOrdering

  /** The execution of a classic Dataset. */
  def executionOf(dataset: Dataset[_]): QueryExecution =
    dataset.asInstanceOf[classic.Dataset[_]].queryExecution

  /** The execution of a stream's last micro-batch, if there has been one. */
  def lastBatchOf(query: StreamingQuery): Option[QueryExecution] = query match {
    case wrapper: StreamingQueryWrapper => Option(wrapper.streamingQuery.lastExecution)
    case _ => None
  }

  /**
   * Plans a SQL text in `session` as far as its physical plan, without running it: by default
   * Spark runs a command as soon as its plan is asked for.
   */
  def planOf(session: SparkSession, sqlText: String): QueryExecution = {
    val classicSession = session.asInstanceOf[classic.SparkSession]
    val parsed = classicSession.sessionState.sqlParser.parsePlan(sqlText)
    new QueryExecution(
      classicSession,
      parsed,
      new QueryPlanningTracker,
      CommandExecutionMode.SKIP)
  }
}
