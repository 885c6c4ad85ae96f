package io.firesteel.changelog.checkpoint

import org.apache.spark.sql.SparkSession

/** Where micro-batches end in their sources. */
final private[changelog] class SourceOffsets(checkpoint: Checkpoint) {

  /** The offset as JSON; none if the source had not begun. */
  def of(batch: Long, source: Int): Option[String] =
    checkpoint.offset(batch).flatMap(_.sources.lift(source)).filter(_ != "-")
}

private[changelog] object SourceOffsets {
  def apply(session: SparkSession, location: String): SourceOffsets =
    new SourceOffsets(new Checkpoint(session, location))
}
