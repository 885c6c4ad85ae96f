package io.firesteel.lookup.jdbc

import io.firesteel.core.jdbc.Secrets
import java.sql.{Driver, DriverManager, SQLException}

import org.apache.spark.sql.execution.datasources.jdbc.{DriverRegistry, DriverWrapper}

/** Finds the class of the JDBC driver. The error says what to add. */
private[jdbc] object JdbcDriver {

  def classOf(options: Map[String, String], secrets: Secrets): String = {
    val url = options("url")
    options.get("driver") match {
      case Some(named) =>
        try DriverRegistry.register(named)
        catch {
          case _: ClassNotFoundException =>
            throw JdbcErrors.noDriver(s"class $named", secrets.redact(url))
        }
        named
      case None =>
        try nameOf(DriverManager.getDriver(url))
        catch {
          // `DriverManager` only says "No suitable driver".
          case _: SQLException => throw JdbcErrors.noDriver("driver", secrets.redact(url))
        }
    }
  }

  /** Spark registers a driver from spark.jars inside a wrapper. */
  private def nameOf(driver: Driver): String = driver match {
    case wrapper: DriverWrapper => wrapper.wrapped.getClass.getCanonicalName
    case itself => itself.getClass.getCanonicalName
  }
}
