package io.firesteel.sinks.postgres

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.sql.Connection

import org.apache.spark.unsafe.types.UTF8String

/**
 * `COPY ... FROM STDIN` in PostgreSQL's text format: many times faster than inserts.
 *
 * The user supplies the driver, and its class loader may differ from this class's. So its copy
 * interface is called by reflection.
 */
final private[postgres] class CopyLines(connection: Connection, sql: String) {
  import CopyLines._

  private[this] val copy: AnyRef = {
    val own = connection.unwrap(connection.getClass.getClassLoader
      .loadClass("org.postgresql.PGConnection").asInstanceOf[Class[AnyRef]])
    call(call(own, "getCopyAPI"), "copyIn", sql)
  }

  private[this] val buffer = new ByteArrayOutputStream(flushAt + flushAt / 4)
  private[this] var isFirst = true

  def field(value: UTF8String): Unit = {
    separate()
    if (value == null) buffer.write(nullMark, 0, nullMark.length)
    else escape(value.getBytes)
  }

  def field(text: String): Unit = {
    separate()
    escape(text.getBytes(UTF_8))
  }

  def endRow(): Unit = {
    buffer.write('\n')
    isFirst = true
    if (buffer.size >= flushAt) flush()
  }

  def finish(): Unit = {
    flush()
    val _ = call(copy, "endCopy")
  }

  /** Gives up. Until then the driver lets nothing else use the connection, also a lost one. */
  def cancel(): Unit = { val _ = call(copy, "cancelCopy") }

  private def separate(): Unit = if (isFirst) isFirst = false else buffer.write('\t')

  /** All special characters of the format are ASCII, and no byte of a longer UTF-8 character is. */
  private def escape(bytes: Array[Byte]): Unit = bytes.foreach {
    case '\\' => buffer.write('\\'); buffer.write('\\')
    case '\n' => buffer.write('\\'); buffer.write('n')
    case '\r' => buffer.write('\\'); buffer.write('r')
    case '\t' => buffer.write('\\'); buffer.write('t')
    case other => buffer.write(other.toInt)
  }

  private def flush(): Unit = if (buffer.size > 0) {
    val bytes = buffer.toByteArray
    val _ = invoke(
      copy,
      copy.getClass.getMethod("writeToCopy", classOf[Array[Byte]], classOf[Int], classOf[Int]),
      bytes,
      Int.box(0),
      Int.box(bytes.length))
    buffer.reset()
  }
}

private[postgres] object CopyLines {

  private val flushAt = 1 << 16
  private val nullMark = "\\N".getBytes(UTF_8)

  private def call(on: AnyRef, method: String, arguments: String*): AnyRef =
    invoke(on, on.getClass.getMethod(method, arguments.map(_.getClass): _*), arguments: _*)

  private def invoke(on: AnyRef, method: java.lang.reflect.Method, arguments: AnyRef*): AnyRef = {
    method.setAccessible(true) // public methods of non-public classes
    try method.invoke(on, arguments: _*)
    catch { case e: java.lang.reflect.InvocationTargetException => throw e.getCause }
  }
}
