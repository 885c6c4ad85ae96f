package io.firesteel.changelog.state

import io.firesteel.core.decide.FiredOperator
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo

/** An operator as its store knows it, which may be its own or that of an operator above it. */
private[changelog] trait StoreMember extends SparkPlan with FiredOperator {

  def contract: ChangelogContract

  /** How the rows of each input reach the partitions of the state. */
  def distributions: Seq[InputDistribution]

  def withState(info: Option[StatefulOperatorStateInfo], inputs: Seq[SparkPlan]): SparkPlan

  /** Whether the operator emits rows when the watermark closes state, even if no row arrives. */
  def emitsAtClose: Boolean = false

  /** The watermark of the result, given that of the inputs. */
  def heldBack(inputWatermarkMs: Long): Long = inputWatermarkMs

  /** The part of the query that this operator runs, with the state's columns of its calls. */
  def member: MemberRecord = contract.member

  /** The layout of its entries in the store. */
  private[state] def stored: StateLayout

  /** The layout that it would have if its rows had a time to live, or had none. */
  private[state] def otherwise: StateLayout

  /** How the rows of the result lie, over inputs that lie as these do. */
  private[state] def placedAs(inputs: Seq[SparkPlan]): Partitioning

  /** What it does in each partition in this micro-batch. */
  private[state] def work(): PartitionWork

  /** Names of metrics that no other operator has. */
  def ownCounts: Seq[String] = Nil

  /** The metrics of its work, without those of a store. */
  private[state] def ownMetrics: Map[String, SQLMetric]
}

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

  /**
   * The changes, counted. `atEnd` is called once, after the last, with the nanoseconds that they took.
   *
   * @param unread read at the end, for their inputs are open when the first change is there
   */
  def emitted(changes: Iterator[InternalRow], unread: UnreadRows)(
      atEnd: Long => Unit): Iterator[InternalRow] = new Iterator[InternalRow] {
    private[this] var started = false
    private[this] var ended = false
    private[this] var nanos = 0L

    override def hasNext: Boolean = {
      val start = System.nanoTime()
      val more = changes.hasNext
      nanos += System.nanoTime() - start
      if (more && !started) unread.readAtEnd()
      started = true
      if (!more && !ended) {
        ended = true
        atEnd(nanos)
      }
      more
    }

    override def next(): InternalRow = counted(changes.next())
  }

  /** The same row, counted as emitted. */
  def counted(row: InternalRow): InternalRow = {
    numOutputRows += 1
    if (kindAt >= 0) kinds(row.getByte(kindAt)) += 1
    row
  }
}
