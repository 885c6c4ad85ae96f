package io.firesteel.changelog.state

import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.streaming.state.StateStore

/**
 * One partition of a store with the state of several operators, in the task that runs them all. The
 * topmost operator, the host, opens it and commits it; the others are its guests.
 *
 * Spark opens the host's store before it asks for the host's input, and gives the store to the host
 * after that. So the rows of a guest wait until somebody reads them.
 */
final private[state] class SharedStore {

  private[this] val guests = ArrayBuffer.empty[Iterator[InternalRow]]
  @volatile private var opened: Option[SharedStore.Opened] = None

  private def get: SharedStore.Opened = opened.getOrElse(
    throw new IllegalStateException("an operator that shares a store runs in a task without it"))

  /** The part of the store that belongs to a member. */
  def member(number: Int): KeyedStore = get.member(number)

  /** The rows of a guest, which is run when they are first read. */
  def guest(number: Int, work: PartitionWork)(
      inputs: Seq[Iterator[InternalRow]]): Iterator[InternalRow] = {
    val rows = new Iterator[InternalRow] {
      private[this] lazy val (entries, changes) = {
        val store = get
        work.run(store.member(number), store.partition, inputs)
      }
      private[this] var done = false

      override def hasNext: Boolean = !done && {
        val more = changes.hasNext
        if (!more) {
          done = true
          entries.evict()
        }
        more
      }
      override def next(): InternalRow = work.counted(changes.next())
    }
    guests += rows
    rows
  }

  /**
   * Reads what nobody has read, such as the rows of one side of a join without rows on the other:
   * guests have all their state before the store is committed. The upper ones read the lower ones.
   */
  def finish(): Unit = guests.reverseIterator.foreach(_.foreach(_ => ()))

  /** Takes out of the store what its members have given up, after all of them are done. */
  def sweep(): Unit = get.sweeps.run()
}

private[state] object SharedStore {

  final private class Opened(store: StateStore, unread: UnreadRows, layout: SharedLayout) {
    private[this] val whole = KeyedStore.of(store, unread)
    val sweeps = new SharedSweep(whole)
    val partition: Int = store.id.partitionId
    def member(number: Int): KeyedStore = new MemberStore(whole, sweeps, layout, number)
  }

  private val all = new ConcurrentHashMap[(Long, Long), SharedStore]()

  private def keyOf(operatorId: Long) = (TaskContext.get().taskAttemptId(), operatorId)

  /** For the host, before it reads its input: the store that its guests in this task wait for. */
  def opened(
      operatorId: Long,
      store: StateStore,
      unread: UnreadRows,
      layout: SharedLayout): SharedStore = {
    val shared = ofThisTask(operatorId)
    // A task that computes the operator twice makes guests anew.
    val _ = all.remove(keyOf(operatorId))
    shared.opened = Some(new Opened(store, unread, layout))
    shared
  }

  /** For a guest: the store that the host will open in this task. */
  def ofThisTask(operatorId: Long): SharedStore = {
    val (task, key) = (TaskContext.get(), keyOf(operatorId))
    all.computeIfAbsent(
      key,
      _ => {
        val _ = task.addTaskCompletionListener[Unit] { _ =>
          val _ = all.remove(key)
        }
        new SharedStore
      })
  }
}
