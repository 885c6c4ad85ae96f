package io.firesteel.bench

import java.io.{BufferedInputStream, BufferedOutputStream, DataInputStream, DataOutputStream, IOException}
import java.net.{InetAddress, ServerSocket, Socket}
import java.util.concurrent.{ConcurrentLinkedQueue, Executors, TimeUnit}

/**
 * A store behind a socket on this machine, which thinks for two milliseconds about every question,
 * however many are waiting. A question is an id; its answer is the customer's region, or -1 when
 * there is none, and the name. Answers on one connection come in the order of its questions, so a
 * client may have many under way.
 *
 * @param customers ids from 0 to this are known
 */
final class SlowStore(customers: Long) extends AutoCloseable {

  private val connections = Executors.newCachedThreadPool()
  // One thread: questions that came first are answered first.
  private val clock = Executors.newSingleThreadScheduledExecutor()
  private val open = new ConcurrentLinkedQueue[Socket]
  private val server = new ServerSocket(0, SlowStore.backlog, InetAddress.getLoopbackAddress)

  connections.execute(() => accept())

  def port: Int = server.getLocalPort

  private def accept(): Unit = untilClosed {
    val socket = server.accept()
    socket.setTcpNoDelay(true)
    open.add(socket)
    connections.execute(() => answerAll(socket))
  }

  private def answerAll(socket: Socket): Unit = {
    val in = new DataInputStream(new BufferedInputStream(socket.getInputStream))
    val out = new DataOutputStream(new BufferedOutputStream(socket.getOutputStream))
    untilClosed {
      val id = in.readLong()
      val _ = clock.schedule(
        (() => answer(id, out)): Runnable,
        SlowStore.answerMillis,
        TimeUnit.MILLISECONDS)
    }
  }

  private def answer(id: Long, out: DataOutputStream): Unit =
    try {
      val known = id < customers
      out.writeInt(if (known) Customers.region(id) else -1)
      out.writeUTF(if (known) Customers.name(id) else "")
      out.flush()
    } catch {
      case _: IOException => () // the client went; nobody waits for this answer
    }

  /** Repeats `step` until the other side, or this store, closes the socket. */
  private def untilClosed(step: => Unit): Unit =
    try while (true) step
    catch {
      case _: IOException => ()
    }

  override def close(): Unit = {
    server.close()
    open.forEach(_.close())
    clock.shutdownNow()
    val _ = connections.shutdownNow()
  }
}

object SlowStore {
  val answerMillis: Long = 2
  private val backlog = 1024
}
