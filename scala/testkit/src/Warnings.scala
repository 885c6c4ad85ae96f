package io.firesteel.testkit

import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.logging.log4j.{Level, LogManager}
import org.apache.logging.log4j.core.{LogEvent, LoggerContext}
import org.apache.logging.log4j.core.appender.AbstractAppender
import org.apache.logging.log4j.core.config.{Configurator, Property}

/** The warnings that Spark's log has of a piece of work. */
object Warnings {

  def of(work: => Unit): Seq[String] = {
    val found = new ConcurrentLinkedQueue[String]
    val appender = new AbstractAppender("warnings", null, null, false, Property.EMPTY_ARRAY) {
      override def append(event: LogEvent): Unit =
        if (event.getLevel == Level.WARN) {
          val _ = found.add(event.getMessage.getFormattedMessage)
        }
    }
    val context = LogManager.getContext(false).asInstanceOf[LoggerContext]
    val root = context.getConfiguration.getRootLogger
    val before = root.getLevel
    appender.start()
    root.addAppender(appender, Level.WARN, null)
    Configurator.setRootLevel(Level.WARN)
    try work
    finally {
      Configurator.setRootLevel(before)
      root.removeAppender(appender.getName)
      appender.stop()
      context.updateLoggers()
    }
    found.asScala.toSeq
  }
}
