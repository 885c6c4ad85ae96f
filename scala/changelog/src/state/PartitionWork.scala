package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.metric.SQLMetric

/**
 * What an operator does in one partition in one micro-batch; made on the driver.
 *
 * @param life how long entries live, and the time of the micro-batch; none, forever
 * @param name the operator's name in messages
 * @param closed for each input the groups that the watermark closes after its rows
 * @param tooLate for each input the groups whose rows are late
 * @param kindAt place of the kind in a row of the result; -1 if all are inserts
 * @param kinds metrics of the rows emitted, by the number of their kind
 */
final private[state] class PartitionWork(
    layout: StateLayout,
    life: Option[(Lifetimes, Long)],
    name: String,
    task: StatefulTask,
    closed: Seq[Option[ClosedGroups]],
    tooLate: Seq[Option[ClosedGroups]],
    counts: StateCounts,
    late: SQLMetric,
    numOutputRows: SQLMetric,
    kindAt: Int,
    kinds: Array[SQLMetric])
  extends Serializable {

  /** The entries, to be evicted when the changes are read, and the changes. */
  def run(
      store: KeyedStore,
      partition: Int,
      inputs: Seq[Iterator[InternalRow]]): (StateEntries, Iterator[InternalRow]) = {
    val entries = life.fold(new StateEntries(store, counts)) { case (lifetimes, nowMs) =>
      new ExpiringEntries(store, counts, layout.value, lifetimes, nowMs, name)
    }
    val inTime = inputs.zip(tooLate).map { case (rows, its) =>
      its.fold(rows)(_.inTime(rows, late))
    }
    val changes = task.run(entries, partition, inTime)
    // Inputs whose event time is the same key column share the closed groups.
    val evicted = closed.flatten.distinctBy(_.keyAt).iterator.flatMap(task.close(entries, _))
    (entries, changes ++ evicted)
  }

  /** The same row, counted as emitted. */
  def counted(row: InternalRow): InternalRow = {
    numOutputRows += 1
    if (kindAt >= 0) kinds(row.getByte(kindAt)) += 1
    row
  }
}
