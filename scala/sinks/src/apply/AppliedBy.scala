package io.firesteel.sinks.apply

import java.util.UUID

import scala.util.Try

import org.apache.spark.SparkContext
import org.apache.spark.sql.firesteel.MicroBatch

/**
 * The writer of a micro-batch.
 *
 * @param query the streaming query's id, which its checkpoint keeps, or a name that the user gave
 * @param isNamed whether the user gave a name
 * @param id the streaming query's id, if it is visible here
 * @param run the id of the query's run, which changes at a restart
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

  // Spark runs the jobs of a query in a job group whose id is the run's.
  private val runIdKey = "spark.jobGroup.id"

  def of(options: ApplyOptions, context: SparkContext): AppliedBy = {
    val running = MicroBatch.query(context)
    MicroBatch.number(context).filter(_ != options.batch).foreach { batch =>
      throw ApplyErrors.otherBatch(options.batch, batch.toString)
    }
    // A user's function may have set its own job group.
    val run = running.flatMap(_ => Option(context.getLocalProperty(runIdKey)))
      .filter(id => Try(UUID.fromString(id)).isSuccess)
    options.query.map(AppliedBy(_, isNamed = true, options.batch, running, run))
      .orElse(running.map { id =>
        val name = MicroBatch.statement(context).fold(id)(statement => s"$id/$statement")
        AppliedBy(name, isNamed = false, options.batch, running, run)
      })
      .getOrElse(throw ApplyErrors.noQuery())
  }
}

/**
 * The last micro-batch that a target has of one query.
 *
 * @param id the streaming query's id; the numbers of another query are not comparable
 */
final private[sinks] case class Done(batch: Long, id: Option[String])

/**
 * The progress of a target: the last micro-batch of each query that writes to it.
 *
 * After a crash Spark repeats the unfinished micro-batch, with the same number and the same input,
 * and no other one. So a micro-batch with the number of the last one is skipped, and an earlier
 * number comes from another checkpoint.
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
