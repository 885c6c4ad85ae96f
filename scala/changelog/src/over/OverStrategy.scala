package io.firesteel.changelog.over

/** How the results of changed partitions are found. */
private[over] trait OverStrategy {

  /**
   * The changes of each partition; it may have several parts, one after the other. The partitions are
   * saved.
   *
   * @param partitions with the positions of the rows that have changed
   */
  def results(partitions: Iterator[(OverPartition, IndexedSeq[Long])]): Iterator[OverPart]
}

private[over] object OverStrategy {

  /** By the frames around the changed rows. */
  final class Frames(frames: OverFrames, evaluated: OverResults) extends OverStrategy {
    override def results(
        partitions: Iterator[(OverPartition, IndexedSeq[Long])]): Iterator[OverPart] =
      evaluated.of(partitions.flatMap { case (partition, changed) =>
        // Saved last, because the rows have both numbers of copies till then.
        new OverSpans(partition, frames).of(changed).concat {
          partition.save()
          Iterator.empty
        }
      })
  }

  /** From the partition's start on. */
  final class Running(functions: OverRunning) extends OverStrategy {
    override def results(
        partitions: Iterator[(OverPartition, IndexedSeq[Long])]): Iterator[OverPart] =
      partitions.map { case (partition, changed) =>
        val net = functions.of(partition, changed)
        partition.save()
        OverPart(partition, net)
      }
  }
}
