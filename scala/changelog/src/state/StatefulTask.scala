package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.InternalRow

/**
 * The work of an operator in one partition of its state, in one micro-batch. It is sent to the
 * tasks and does not refer to the plan, so a fused operator can be a chain of such tasks over one
 * store.
 */
private[changelog] trait StatefulTask extends Serializable {

  /**
   * Turns the rows of the inputs into the net changes of the result.
   *
   * @param partition the number of the state's partition
   * @param inputs for each input the rows that are not late
   */
  def run(
      entries: StateEntries,
      partition: Int,
      inputs: Seq[Iterator[InternalRow]]): Iterator[InternalRow]

  /**
   * Evicts the state that the watermark has closed, after all rows of [[run]] were read. The rows
   * that it returns are emitted last.
   */
  def close(entries: StateEntries, closed: ClosedGroups): Iterator[InternalRow] = {
    entries.close(closed)
    Iterator.empty
  }
}

private[changelog] object StatefulTask {

  type OfOneInput = (StateEntries, Int, Iterator[InternalRow]) => Iterator[InternalRow]
  type AtClose = (StateEntries, ClosedGroups) => Iterator[InternalRow]

  /** The task of an operator with one input. */
  def ofOne(rows: OfOneInput): StatefulTask = new OneInputTask(rows)

  /** The task of an operator with one input that emits rows when the watermark closes state. */
  def ofOne(rows: OfOneInput, atClose: AtClose): StatefulTask = new OneInputTask(rows) {
    override def close(entries: StateEntries, closed: ClosedGroups): Iterator[InternalRow] =
      atClose(entries, closed)
  }

  private class OneInputTask(rows: OfOneInput) extends StatefulTask {
    override def run(
        entries: StateEntries,
        partition: Int,
        inputs: Seq[Iterator[InternalRow]]): Iterator[InternalRow] =
      rows(entries, partition, inputs.head)
  }
}
