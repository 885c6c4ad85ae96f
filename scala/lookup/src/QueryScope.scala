package io.firesteel.lookup

import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.sql.execution.SQLExecution
import org.apache.spark.sql.firesteel.MicroBatch

/** The owner of a cache: a stream, across its micro-batches, or one run of a batch query. */
private[lookup] object QueryScope {

  /** The id of the stream whose micro-batch this thread runs. */
  def stream(context: SparkContext): Option[String] = MicroBatch.query(context)

  /** The micro-batch that this thread runs; 0 outside of streams. */
  def batch(context: SparkContext): Long = MicroBatch.number(context).getOrElse(0L)

  /** The query of a task. Spark copies the properties of the thread that runs the job to tasks. */
  def of(task: TaskContext): Option[String] =
    Seq(MicroBatch.queryIdKey, SQLExecution.EXECUTION_ID_KEY)
      .flatMap(key => Option(task.getLocalProperty(key)))
      .headOption
}
