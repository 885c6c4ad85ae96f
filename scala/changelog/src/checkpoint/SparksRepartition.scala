package io.firesteel.changelog.checkpoint

/**
 * What Spark's own repartitioning has left where it failed: an entry in the offset log with another number
 * of partitions, after which the query does not start. The state of before is there still.
 */
private[checkpoint] object SparksRepartition {

  /** Whether a micro-batch that has begun, and not ended, is such a one. */
  def has(checkpoint: Checkpoint, begun: Long): Boolean = {
    val numbers = Seq(begun - 1, begun).map(checkpoint.offset(_).flatMap(_.partitions))
    numbers.forall(_.nonEmpty) && numbers.distinct.size > 1 &&
    checkpoint.offset(begun).forall(_.note.isEmpty)
  }

  /**
   * Told to, Spark passes over a micro-batch that has not ended, and says of it that it has; its state is
   * not there. Then the checkpoint becomes what it was: that micro-batch has begun, and not ended.
   */
  def unskip(checkpoint: Checkpoint, begun: Long): Option[Long] =
    for {
      entry <- checkpoint.offset(begun)
      previous <- checkpoint.offset(begun - 1)
      if !entry.isCopyOf(previous)
      whole <- (begun - 2).to(0L, -1L).find(b => checkpoint.offset(b).forall(entry.isCopyOf))
    } yield {
      checkpoint.commits.purgeAfter(whole)
      withdraw(checkpoint, begun)
      begun - 1
    }

  /**
   * Makes it as if it had never begun. A store that goes on by files of changes would take a whole one of
   * the next version, which Spark may have written, for its own: so that goes first.
   */
  def withdraw(checkpoint: Checkpoint, begun: Long): Unit = {
    val name = s"${begun + 1}(_.*)?\\.(zip|changelog)".r
    checkpoint
      .filesBelow(checkpoint.state)
      .filter(file => name.matches(file.getName))
      .foreach(checkpoint.files.delete)
    checkpoint.offsets.purgeAfter(begun - 1)
  }
}
