package io.firesteel.lookup

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.execution.SQLExecution

/** The owner of a cache: a stream, across its micro-batches, or one run of a batch query. */
private[lookup] object QueryScope {

  /** The local property with the id of a stream; Spark names it `QUERY_ID_KEY`. */
  private val streamId = "sql.streaming.queryId"

  /** The id of the stream whose micro-batch this thread runs. */
  def stream(context: SparkContext): Option[String] = Option(context.getLocalProperty(streamId))

  /** The micro-batch that this thread runs; Spark names it `MicroBatchExecution.BATCH_ID_KEY`. */
  def batch(context: SparkContext): Long =
    Option(context.getLocalProperty("streaming.sql.batchId")).fold(0L)(_.toLong)

  /** The query of a task. Spark copies the properties of the thread that runs the job to tasks. */
  def of(task: TaskContext): Option[String] =
    Seq(streamId, SQLExecution.EXECUTION_ID_KEY)
      .flatMap(key => Option(task.getLocalProperty(key)))
      .headOption
}
