package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.InternalRow

/**
 * What an operator does in one partition of its state, in one micro-batch. It is sent to the tasks,
 * and knows nothing of the plan: a fused operator is a chain of them over one store.
 */
private[changelog] trait StatefulTask extends Serializable {

  /**
   * Turns the rows of the inputs into the net changes of the result.
   *
   * @param partition the number of the state's partition
   * @param inputs of each input the rows that are not late
   */
  def run(
      entries: StateEntries,
      partition: Int,
      inputs: Seq[Iterator[InternalRow]]): Iterator[InternalRow]

  /**
   * Evicts what the watermark has closed, once all rows of [[run]] have been read. The rows that it
   * gives are emitted after them.
   */
  def close(entries: StateEntries, closed: ClosedGroups): Iterator[InternalRow] = {
    entries.close(closed)
    Iterator.empty
  }
}

private[changelog] object StatefulTask {

  type OfOneInput = (StateEntries, Int, Iterator[InternalRow]) => Iterator[InternalRow]

  /** The task of an operator with one input. */
  def ofOne(rows: OfOneInput): StatefulTask = new OneInputTask(rows)

  final private class OneInputTask(rows: OfOneInput) extends StatefulTask {
    override def run(
        entries: StateEntries,
        partition: Int,
        inputs: Seq[Iterator[InternalRow]]): Iterator[InternalRow] =
      rows(entries, partition, inputs.head)
  }
}
