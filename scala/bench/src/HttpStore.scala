package io.firesteel.bench

import java.net.{InetAddress, InetSocketAddress}
import java.nio.charset.StandardCharsets
import java.util.concurrent.Executors

import com.sun.net.httpserver.{HttpExchange, HttpServer}

/**
 * A store behind a network: an HTTP server on this machine that thinks for two milliseconds about
 * every question. `GET /<id>` answers the customer's name and region, separated by a tab.
 *
 * @param customers ids from 0 to this are known
 */
final class HttpStore(customers: Long) extends AutoCloseable {

  // Without these it waits 40 ms for acknowledgements, and closes connections that are idle.
  System.setProperty("sun.net.httpserver.nodelay", "true")
  System.setProperty("sun.net.httpserver.maxIdleConnections", "2000")

  private val threads = Executors.newCachedThreadPool()

  private val server =
    HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress, 0), HttpStore.backlog)

  server.createContext("/", answer(_))
  server.setExecutor(threads)
  server.start()

  def url: String = s"http://127.0.0.1:${server.getAddress.getPort}/"

  private def answer(exchange: HttpExchange): Unit = {
    Thread.sleep(HttpStore.answerMillis)
    val id = exchange.getRequestURI.getPath.drop(1).toLong
    if (id < customers) {
      val body = s"${Customers.name(id)}\t${Customers.region(id)}".getBytes(StandardCharsets.UTF_8)
      exchange.sendResponseHeaders(200, body.length.toLong)
      exchange.getResponseBody.write(body)
    } else exchange.sendResponseHeaders(404, -1)
    exchange.close()
  }

  override def close(): Unit = {
    server.stop(0)
    val _ = threads.shutdownNow()
  }
}

object HttpStore {
  val answerMillis: Long = 2
  private val backlog = 1024
}
