package io.firesteel.lookup

import org.apache.spark.SparkContext
import org.apache.spark.sql.execution.SQLExecution

/** What a cache belongs to: a stream, across its micro-batches, or one run of a batch query. */
private[lookup] object QueryScope {

  /** The id of the stream whose micro-batch this thread runs; Spark names it `QUERY_ID_KEY`. */
  def stream(context: SparkContext): Option[String] =
    Option(context.getLocalProperty("sql.streaming.queryId"))

  def of(context: SparkContext): Option[String] =
    stream(context).orElse(Option(context.getLocalProperty(SQLExecution.EXECUTION_ID_KEY)))
}
