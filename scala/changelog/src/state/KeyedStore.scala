package io.firesteel.changelog.state

import java.util.concurrent.ConcurrentHashMap

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.TaskContext
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreIterator, UnsafeRowPair}
import org.apache.spark.sql.firesteel.OwnStateStores
import org.apache.spark.sql.internal.SQLConf

/** The keys and values of one operator: a store of its own, or its part of a shared one. */
private[changelog] trait KeyedStore {

  /** The value of a key; the next call may overwrite it. Null if there is none. */
  def get(key: UnsafeRow): UnsafeRow

  def put(key: UnsafeRow, value: UnsafeRow): Unit

  def remove(key: UnsafeRow): Unit

  /** The entries with this key prefix; the next one may overwrite both rows. */
  def withPrefix(prefix: UnsafeRow): StateStoreIterator[UnsafeRowPair]

  /** All entries; the next one may overwrite both rows. */
  def all(): StateStoreIterator[UnsafeRowPair]

  /** Removes entries without emitting anything; returns their number. */
  final def removeWhere(unwanted: UnsafeRowPair => Boolean): Long = {
    val found = Seq.newBuilder[UnsafeRow]
    val entries = all()
    try entries.foreach(entry => if (unwanted(entry)) found += entry.key.copy())
    finally entries.close()
    val keys = found.result()
    keys.foreach(remove(_))
    keys.size.toLong
  }

  /**
   * Removes entries that nobody reads any more in this micro-batch, before the store is committed.
   *
   * @param removed gets their number
   */
  def sweep(unwanted: UnsafeRowPair => Boolean)(removed: Long => Unit): Unit =
    removed(removeWhere(unwanted))

  /** Whether an iterator shows the entries as they were when it was made. */
  def readsSnapshots: Boolean

  /** Whether the rows that iterators return stay as they are. */
  def keepsRows: Boolean

  /**
   * Whether iterators return keys in the order of their bytes. RocksDB does, if Spark stores rows
   * unchanged (`spark.sql.streaming.stateStore.encodingFormat`).
   */
  def sortsKeys: Boolean

  /**
   * To be called after something was opened that the end of the task closes, such as an iterator of
   * RocksDB: what nobody has read by then is read before.
   */
  def readBeforeClosing(): Unit

  /** Changes with the version and differs by partition: when it is divided, work is spread. */
  def turn: Long

  /** The part of another operator that shares the store. */
  def ofMember(number: Int): KeyedStore
}

/**
 * The rows that an operator has not emitted when its task ends. A join above may leave rows unread,
 * such as one whose other side is empty, and so may the function of a sink; state must be whole.
 */
final private[state] class UnreadRows {

  private[this] var rows: Iterator[InternalRow] = Iterator.empty

  /** To be called for a lower operator of a task first. */
  def are(its: Iterator[InternalRow]): Unit = {
    rows = its
    Option(TaskContext.get()).foreach(UnreadRows.add(_, this))
    readAtEnd()
  }

  /**
   * Spark runs the listeners of a task from the last to the first. What an upper operator has not read
   * of a lower one it needs, so the upper ones read first.
   */
  def readAtEnd(): Unit = Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit] {
    task =>
      if (!task.isFailed() && !task.isInterrupted())
        UnreadRows.of(task).reverseIterator.foreach(_.read())
  })

  private def read(): Unit = rows.foreach(_ => ())
}

private object UnreadRows {

  private val all = new ConcurrentHashMap[Long, ArrayBuffer[UnreadRows]]()

  private def add(task: TaskContext, its: UnreadRows): Unit = {
    val id = task.taskAttemptId()
    val ofTask = all.computeIfAbsent(
      id,
      _ => {
        task.addTaskCompletionListener[Unit] { _ =>
          val _ = all.remove(id)
        }
        new ArrayBuffer
      })
    val _ = ofTask += its
  }

  private def of(task: TaskContext): Seq[UnreadRows] =
    Option(all.get(task.taskAttemptId())).fold(Seq.empty[UnreadRows])(_.toSeq)
}

private[changelog] object KeyedStore {

  private val format = SQLConf.STREAMING_STATE_STORE_ENCODING_FORMAT

  /** A store of one operator, or of those that share it. */
  def of(store: StateStore, unread: UnreadRows = new UnreadRows): KeyedStore =
    new Whole(store, unread)

  final private class Whole(store: StateStore, unread: UnreadRows) extends KeyedStore {
    override def get(key: UnsafeRow): UnsafeRow = store.get(key)
    override def put(key: UnsafeRow, value: UnsafeRow): Unit = store.put(key, value)
    override def remove(key: UnsafeRow): Unit = store.remove(key)
    override def withPrefix(prefix: UnsafeRow): StateStoreIterator[UnsafeRowPair] =
      store.prefixScan(prefix)
    override def all(): StateStoreIterator[UnsafeRowPair] = store.iterator()
    override val readsSnapshots: Boolean = store.getClass.getSimpleName == "RocksDBStateStore"
    override val keepsRows: Boolean = OwnStateStores.keepsRows(store)
    override val sortsKeys: Boolean =
      readsSnapshots && SQLConf.get.getConf(format).equalsIgnoreCase("unsaferow")
    override def readBeforeClosing(): Unit = unread.readAtEnd()
    override def turn: Long = store.version + store.id.partitionId
    override def ofMember(number: Int): KeyedStore =
      throw new IllegalStateException("the store has one operator")
  }
}
