package io.firesteel.changelog.checkpoint

/**
 * Repairs a checkpoint after Spark's own repartitioning failed: it left an entry in the offset log
 * with another number of partitions, after which the query does not start. The previous state is
 * intact.
 */
private[checkpoint] object SparksRepartition {

  /** Whether an unfinished micro-batch is such a repartitioning. */
  def has(checkpoint: Checkpoint, begun: Long): Boolean = {
    val numbers = Seq(begun - 1, begun).map(checkpoint.offset(_).flatMap(_.partitions))
    numbers.forall(_.nonEmpty) && numbers.distinct.size > 1 &&
    checkpoint.offset(begun).forall(_.note.isEmpty)
  }

  /**
   * On request Spark skips an unfinished micro-batch and marks it as finished, but its state does
   * not exist. This restores the checkpoint: the micro-batch has started and not finished.
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
   * Removes every trace of it. A store with changelog files would take a snapshot of the next
   * version, which Spark may have written, as its own: so the snapshot is removed first.
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
