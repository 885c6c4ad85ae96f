package io.firesteel.bench

import java.io.{BufferedInputStream, DataInputStream, DataOutputStream, IOException}
import java.net.{InetAddress, Socket}
import java.util.{Collections, Iterator => JavaIterator, List => JavaList}
import java.util.concurrent.{CompletableFuture, LinkedBlockingQueue}

import io.firesteel.lookup.{AsyncLookupFunction, SyncLookupFunction, TaskInfo}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

/** Asks [[SlowStore]] for one customer in each request, with several requests at once. */
private final class SlowStoreAsync(port: Int, columns: StructType) extends AsyncLookupFunction {

  @transient private var connection: SlowStoreConnection = _

  override def maxBatchKeys: Int = 1

  override def open(task: TaskInfo): Unit = connection = new SlowStoreConnection(port)

  override def lookupAsync(
      keys: JavaList[InternalRow]): CompletableFuture[JavaList[InternalRow]] =
    connection.ask(keys.get(0).getLong(0), columns)

  override def close(): Unit = if (connection != null) connection.close()
}

/** The same, but waits for each answer. */
private final class SlowStoreSync(port: Int, columns: StructType) extends SyncLookupFunction {

  @transient private var connection: SlowStoreConnection = _

  override def maxBatchKeys: Int = 1

  override def open(task: TaskInfo): Unit = connection = new SlowStoreConnection(port)

  override def lookup(keys: JavaList[InternalRow]): JavaIterator[InternalRow] =
    connection.ask(keys.get(0).getLong(0), columns).get().iterator

  override def close(): Unit = if (connection != null) connection.close()
}

/** A connection that answers in order. A thread reads the answers. */
private final class SlowStoreConnection(port: Int) extends AutoCloseable {

  private final class Question(val id: Long, val columns: StructType)
    extends CompletableFuture[JavaList[InternalRow]]

  private val socket = new Socket(InetAddress.getLoopbackAddress, port)
  socket.setTcpNoDelay(true)
  private val out = new DataOutputStream(socket.getOutputStream)
  private val waiting = new LinkedBlockingQueue[Question]
  private val reader = new Thread(() => readAnswers(), "slow-store-answers")
  reader.setDaemon(true)
  reader.start()

  def ask(id: Long, columns: StructType): CompletableFuture[JavaList[InternalRow]] = {
    val question = new Question(id, columns)
    out.synchronized {
      waiting.add(question)
      out.writeLong(id)
    }
    question
  }

  private def readAnswers(): Unit = {
    val in = new DataInputStream(new BufferedInputStream(socket.getInputStream))
    try
      while (true) {
        val region = in.readInt()
        val name = in.readUTF()
        val question = waiting.take()
        val _ = question.complete(
          if (region < 0) Collections.emptyList[InternalRow]
          else
            Collections.singletonList(Customers.row(question.columns, question.id, name, region)))
      }
    catch {
      case closed: IOException => waiting.forEach { q =>
          val _ = q.completeExceptionally(closed)
        }
    }
  }

  override def close(): Unit = socket.close()
}
