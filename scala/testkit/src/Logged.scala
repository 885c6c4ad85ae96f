package io.firesteel.testkit

import java.io.{PrintWriter, StringWriter}
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.{Level, LogManager}
import org.apache.logging.log4j.core.{LogEvent, LoggerContext}
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{LoggerConfig, Property}

/** What loggers write. */
object Logged {

  /** Everything that these loggers write meanwhile, including exceptions with their stack traces. */
  def apply(names: String*)(work: => Unit): Seq[String] = {
    val texts = new ConcurrentLinkedQueue[String]
    val appender = new AbstractAppender("texts", null, null, false, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit = {
        texts.add(event.getMessage.getFormattedMessage)
        Option(event.getThrown).foreach(e => texts.add(textOf(e)))
      }
    }
    appender.start()
    val logging = LogManager.getContext(false).asInstanceOf[LoggerContext]
    names.foreach { name =>
      val logger = new LoggerConfig(name, Level.ALL, false)
      logger.addAppender(appender, Level.ALL, null)
      logging.getConfiguration.addLogger(name, logger)
    }
    logging.updateLoggers()
    try work
    finally {
      names.foreach(logging.getConfiguration.removeLogger)
      logging.updateLoggers()
    }
    texts.asScala.toSeq
  }

  /** An exception with its stack trace and those of its causes. */
  def textOf(e: Throwable): String = {
    val text = new StringWriter
    e.printStackTrace(new PrintWriter(text))
    text.toString
  }
}
