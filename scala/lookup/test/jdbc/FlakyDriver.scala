package io.firesteel.lookup.jdbc

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Proxy}
import java.sql.{Connection, Driver, DriverPropertyInfo, SQLException}
import java.util.Properties
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import java.util.logging.Logger

/** H2 with failures on demand: `jdbc:flaky:` stands for `jdbc:`. */
class FlakyDriver extends Driver {
  import FlakyDriver._

  override def acceptsURL(url: String): Boolean = url.startsWith("jdbc:flaky:")

  override def connect(url: String, info: Properties): Connection =
    if (!acceptsURL(url)) null
    else {
      fail(connects)
      connections.incrementAndGet()
      val real = new org.h2.Driver().connect(url.replace("jdbc:flaky:", "jdbc:"), info)
      val handler: InvocationHandler = (_: Object, method: Method, arguments: Array[Object]) =>
        method.getName match {
          // As with some drivers, the connection's text is its URL.
          case "toString" => s"connection to $url"
          case "prepareStatement" =>
            if (arguments.head.toString.contains(" IN (")) lookups.incrementAndGet()
            fail(queries)
            invoke(real, method, arguments)
          case _ => invoke(real, method, arguments)
        }
      Proxy
        .newProxyInstance(getClass.getClassLoader, Array(classOf[Connection]), handler)
        .asInstanceOf[Connection]
    }

  private def invoke(real: Object, method: Method, arguments: Array[Object]): Object =
    try method.invoke(real, Option(arguments).getOrElse(Array.empty[Object]): _*)
    catch { case e: InvocationTargetException => throw e.getCause }

  override def getPropertyInfo(url: String, info: Properties): Array[DriverPropertyInfo] =
    Array.empty
  override def getMajorVersion: Int = 1
  override def getMinorVersion: Int = 0
  override def jdbcCompliant(): Boolean = false
  override def getParentLogger: Logger = Logger.getGlobal
}

object FlakyDriver {

  /** The exceptions of the next connects and queries; later ones succeed. */
  val connects = new ConcurrentLinkedQueue[Throwable]
  val queries = new ConcurrentLinkedQueue[Throwable]

  /** The number of connections, and of statements that looked up keys. */
  val connections = new AtomicInteger
  val lookups = new AtomicInteger

  def reset(): Unit = {
    connects.clear()
    queries.clear()
    connections.set(0)
    lookups.set(0)
  }

  private def fail(planned: ConcurrentLinkedQueue[Throwable]): Unit =
    Option(planned.poll()).foreach(throw _)

  def failure(state: String): SQLException = new SQLException(s"made to fail with $state", state)
}
