package io.firesteel.sinks.apply

import java.util.UUID

import scala.util.Try

import org.apache.spark.SparkContext

/**
 * Who applies which micro-batch.
 *
 * @param query the streaming query's id, which its checkpoint keeps, or a name that the user gave
 * @param isNamed whether the user gave it
 * @param id the streaming query's id, where it can be seen
 * @param run the run of the streaming query, which is another after a restart
 */
final private[sinks] case class AppliedBy(
    query: String,
    isNamed: Boolean,
    batch: Long,
    id: Option[String] = None,
    run: Option[String] = None) {

  def done: Done = Done(batch, id)
}

private[sinks] object AppliedBy {

  // Spark sets both on the thread that runs a micro-batch; a Connect server runs a client's
  // function on another.
  private val queryIdKey = "sql.streaming.queryId"
  private val batchIdKey = "streaming.sql.batchId"

  // Spark runs the jobs of a query as a group, whose id is that of the run.
  private val runIdKey = "spark.jobGroup.id"

  def of(options: ApplyOptions, context: SparkContext): AppliedBy = {
    val running = Option(context.getLocalProperty(queryIdKey))
    Option(context.getLocalProperty(batchIdKey)).filter(_ != options.batch.toString).foreach {
      batch => throw ApplyErrors.otherBatch(options.batch, batch)
    }
    // A user's function may have set a group of its own.
    val run = running.flatMap(_ => Option(context.getLocalProperty(runIdKey)))
      .filter(id => Try(UUID.fromString(id)).isSuccess)
    options.query.map(AppliedBy(_, isNamed = true, options.batch, running, run))
      .orElse(running.map(AppliedBy(_, isNamed = false, options.batch, running, run)))
      .getOrElse(throw ApplyErrors.noQuery())
  }
}

/**
 * A micro-batch that a target has.
 *
 * @param id of the streaming query that it was of: numbers of another one say nothing beside it
 */
final private[sinks] case class Done(batch: Long, id: Option[String])

/**
 * What a target has: the last micro-batch of each query that writes to it.
 *
 * After a crash Spark repeats the micro-batch that had not ended, with the same number and the same
 * input, and no other: so one that the target has is passed over, and an earlier one is of another
 * checkpoint.
 */
final private[sinks] case class Progress(target: String, last: Map[String, Done]) {

  def has(by: AppliedBy): Boolean = last.get(by.query) match {
    case Some(Done(batch, Some(other))) if by.id.exists(_ != other) =>
      throw ApplyErrors.otherCheckpoint(target, by.query, by.batch, by.id, batch, other)
    case Some(done) if by.batch < done.batch =>
      throw ApplyErrors.batchBehind(target, by.query, by.batch, done.batch)
    case Some(done) => by.batch == done.batch
    case None if last.nonEmpty && !by.isNamed =>
      throw ApplyErrors.otherQuery(target, by.query, last.keys.toSeq)
    case None => false
  }
}
