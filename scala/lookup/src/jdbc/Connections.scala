package io.firesteel.lookup.jdbc

import java.io.PrintWriter
import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Proxy}
import java.sql.{Connection, SQLFeatureNotSupportedException}
import java.util.concurrent.atomic.AtomicReference
import java.util.logging.Logger
import javax.sql.DataSource

import scala.util.control.NonFatal

import org.apache.spark.sql.execution.datasources.jdbc.{DriverRegistry, JDBCOptions}
import org.apache.spark.sql.jdbc.{JdbcDialect, JdbcDialects}

/** Opens connections as Spark's JDBC source does, and keeps passwords out of errors and logs. */
private[jdbc] final class Connections(settings: JdbcSettings) extends DataSource {

  /** Spark's number for "for no partition". */
  private[this] val noPartition = -1

  @volatile private[this] var loginTimeout: Int = 0

  private[this] val first = new AtomicReference[Connection]

  /** Opens a connection now, for the next caller. */
  def openFirst(): Unit = first.set(openInitialised())

  override def getConnection(): Connection =
    Option(first.getAndSet(null)).getOrElse(openInitialised())

  /** Closes the connection that nobody has taken. */
  def close(): Unit = Option(first.getAndSet(null)).foreach(_.close())

  def open(): Connection = redacting {
    val connection = connect()
    if (settings.secrets.isIn(connection.toString)) silent(connection) else connection
  }

  private def openInitialised(): Connection = redacting {
    val connection = open()
    settings.options.sessionInitStatement.foreach(initialise(connection, _))
    connection
  }

  private def redacting[T](work: => T): T =
    try work
    catch { case NonFatal(e) => throw settings.secrets.clean(e) }

  /**
   * Spark's provider for a plain login logs the password at its most detailed level, so this class
   * does that login itself, in the same way. Spark does all others: Kerberos, a provider that the
   * user names, and a dialect that connects by itself.
   */
  private def connect(): Connection = {
    val options = settings.options
    val dialect = JdbcDialects.get(options.url)
    val ownFactory = dialect.getClass.getMethod("createConnectionFactory", classOf[JDBCOptions])
    val ofSpark = options.connectionProviderName.isDefined ||
      (options.keytab != null && options.principal != null) ||
      ownFactory.getDeclaringClass != classOf[JdbcDialect]
    if (ofSpark) dialect.createConnectionFactory(options)(noPartition)
    else {
      DriverRegistry.register(options.driverClass)
      val driver = DriverRegistry.get(options.driverClass)
      // A driver returns null for the URL of another driver.
      Option(driver.connect(options.url, options.asConnectionProperties)).getOrElse(
        throw JdbcErrors.noDriver(s"class ${options.driverClass} that serves", settings.shownUrl))
    }
  }

  private def initialise(connection: Connection, sql: String): Unit = {
    val statement = connection.prepareStatement(sql)
    try {
      val _ = statement.execute()
    } catch {
      case NonFatal(e) =>
        connection.close()
        throw e
    } finally statement.close()
  }

  /** Hikari logs the text of a connection, which comes from the driver and may contain the URL. */
  private def silent(connection: Connection): Connection = {
    val shown = settings.secrets.redact(connection.toString)
    val handler: InvocationHandler = (_: Object, method: Method, arguments: Array[Object]) =>
      if (method.getName == "toString") shown
      else {
        try method.invoke(connection, Option(arguments).getOrElse(Array.empty[Object]): _*)
        catch { case e: InvocationTargetException => throw e.getCause }
      }
    Proxy
      .newProxyInstance(getClass.getClassLoader, Array(classOf[Connection]), handler)
      .asInstanceOf[Connection]
  }

  override def getConnection(user: String, password: String): Connection =
    throw new SQLFeatureNotSupportedException("the login is part of the options")

  override def getLogWriter: PrintWriter = null
  override def setLogWriter(out: PrintWriter): Unit = ()
  override def getLoginTimeout: Int = loginTimeout
  override def setLoginTimeout(seconds: Int): Unit = loginTimeout = seconds
  override def getParentLogger: Logger = throw new SQLFeatureNotSupportedException()
  override def isWrapperFor(aClass: Class[_]): Boolean = false
  override def unwrap[T](aClass: Class[T]): T = throw new SQLFeatureNotSupportedException()

  override def toString: String = s"connections of ${JdbcProvider.name}"
}
