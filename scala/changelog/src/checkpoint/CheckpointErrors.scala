package io.firesteel.changelog.checkpoint

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.core.errors.{FiresteelAnalysisException, FiresteelException}

/** Why a checkpoint's state is not repartitioned, or its statements are not changed. */
private[checkpoint] object CheckpointErrors {

  def badNumber(partitions: Int): Throwable =
    analysis("BAD_NUMBER", "partitions" -> partitions.toString)

  def noCheckpoint(checkpoint: String): Throwable =
    analysis("NO_CHECKPOINT", "checkpoint" -> checkpoint)

  def noState(checkpoint: String): Throwable = analysis("NO_STATE", "checkpoint" -> checkpoint)

  def noEntry(checkpoint: String, batch: Long): Throwable =
    analysis("NO_ENTRY", "checkpoint" -> checkpoint, "batch" -> batch.toString)

  def tooOld(checkpoint: String, batch: Long): Throwable =
    analysis("TOO_OLD", "checkpoint" -> checkpoint, "batch" -> batch.toString)

  def unfinishedBatch(checkpoint: String, batch: Long): Throwable =
    analysis("UNFINISHED_BATCH", "checkpoint" -> checkpoint, "batch" -> batch.toString)

  def unfinishedBySpark(checkpoint: String, batch: Long): Throwable =
    running("UNFINISHED_BY_SPARK", "checkpoint" -> checkpoint, "batch" -> batch.toString)

  def stillRuns(checkpoint: String, query: String): Throwable =
    analysis("RUNNING", "checkpoint" -> checkpoint, "query" -> query)

  def unknownOperator(checkpoint: String, operator: String): Throwable =
    analysis("UNKNOWN_OPERATOR", "checkpoint" -> checkpoint, "operator" -> operator)

  def unknownProvider(checkpoint: String, provider: String): Throwable =
    analysis("UNKNOWN_PROVIDER", "checkpoint" -> checkpoint, "provider" -> provider)

  def oldSpark(checkpoint: String, version: String): Throwable =
    analysis("OLD_SPARK", "checkpoint" -> checkpoint, "version" -> version)

  def meanwhile(checkpoint: String, batch: Long): Throwable =
    running("MEANWHILE", "checkpoint" -> checkpoint, "batch" -> batch.toString)

  def elsewhere(operator: String, number: Long, partition: Int, home: Int): Throwable =
    running(
      "ELSEWHERE",
      "operator" -> s"$operator (number $number)",
      "partition" -> partition.toString,
      "home" -> home.toString)

  /** Why the statements of a set cannot be others. */
  def notEditable(reason: String): Throwable = ChangelogErrors.unsupportedOperator(
    "Another set of statements",
    reason,
    "keep the statements, or start with a new checkpoint")

  /** An edit of a set's statements has begun and not ended. */
  def editBegun: Throwable = ChangelogErrors.unsupportedOperator(
    "Another number of partitions",
    "a change of the set's statements has begun and has not ended",
    "start the set once, and repartition when it has ended"
  )

  private def analysis(reason: String, parameters: (String, String)*): Throwable =
    new FiresteelAnalysisException(s"FIRESTEEL_REPARTITION_$reason", parameters.toMap)

  private def running(reason: String, parameters: (String, String)*): Throwable =
    new FiresteelException(s"FIRESTEEL_REPARTITION_$reason", parameters.toMap)
}
