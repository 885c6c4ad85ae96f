package org.apache.spark.sql.firesteel

import org.apache.spark.SparkContext

/**
 * The micro-batch that a thread runs, by the local properties that Spark sets on it. A Connect server
 * runs a client's function on another thread.
 */
object MicroBatch {

  /** Spark names it `StreamExecution.QUERY_ID_KEY`. */
  val queryIdKey: String = "sql.streaming.queryId"

  /** Spark names it `MicroBatchExecution.BATCH_ID_KEY`. */
  private val batchIdKey = "streaming.sql.batchId"

  /** Several statements of a query write different rows. */
  val statementKey: String = "firesteel.statement"

  /** The statement of a set whose rows this thread writes; none in other queries. */
  def statement(context: SparkContext): Option[String] =
    Option(context.getLocalProperty(statementKey))

  /** The id of the streaming query. */
  def query(context: SparkContext): Option[String] = Option(context.getLocalProperty(queryIdKey))

  /** The number of the micro-batch within its query. */
  def number(context: SparkContext): Option[Long] =
    Option(context.getLocalProperty(batchIdKey)).map(_.toLong)
}
