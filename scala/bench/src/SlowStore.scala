package io.firesteel.bench

import java.io.{BufferedInputStream, BufferedOutputStream, DataInputStream, DataOutputStream, IOException}
import java.net.{InetAddress, ServerSocket, Socket}
import java.util.concurrent.{ConcurrentLinkedQueue, Executors, TimeUnit}

/**
 * A store behind a socket on this machine. It takes two milliseconds for every request, however
 * many wait. A request is an id. The answer is the customer's region, or -1 if there is none, and
 * the name. Answers on one connection keep the order of its requests, so a client may send many at
 * once.
 *
 * @param customers the store knows ids from 0 to this number
 */
final class SlowStore(customers: Long) extends AutoCloseable {

  private val connections = Executors.newCachedThreadPool()
  // One thread, so answers keep the order of requests.
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

  /** Repeats `step` until either side closes the socket. */
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
