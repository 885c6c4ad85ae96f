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
  @volatile private[this] var opened: Option[(StateStore, SharedLayout)] = None

  private def open(store: StateStore, layout: SharedLayout): Unit = opened = Some((store, layout))

  private def get: (StateStore, SharedLayout) = opened.getOrElse(
    throw new IllegalStateException("an operator that shares a store runs in a task without it"))

  /** The rows of a guest, which is run when they are first read. */
  def guest(member: Int, work: PartitionWork)(
      inputs: Seq[Iterator[InternalRow]]): Iterator[InternalRow] = {
    val rows = new Iterator[InternalRow] {
      private[this] lazy val (entries, changes) = {
        val (store, layout) = get
        work.run(new MemberStore(store, layout, member), store.id.partitionId, inputs)
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
}

private[state] object SharedStore {

  private val all = new ConcurrentHashMap[(Long, Long), SharedStore]()

  private def keyOf(operatorId: Long) = (TaskContext.get().taskAttemptId(), operatorId)

  /** For the host, before it reads its input: the store that its guests in this task wait for. */
  def opened(operatorId: Long, store: StateStore, layout: SharedLayout): SharedStore = {
    val shared = ofThisTask(operatorId)
    // A task that computes the operator twice makes guests anew.
    val _ = all.remove(keyOf(operatorId))
    shared.open(store, layout)
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
