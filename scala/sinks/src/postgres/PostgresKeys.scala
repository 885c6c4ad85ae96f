package io.firesteel.sinks.postgres

import java.time.{ZoneId, ZoneOffset}

import scala.util.Try
import scala.util.matching.Regex

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, StringType, TimestampNTZType, TimestampType}

/** Types of Spark beside those of a table's columns. */
private[postgres] object PostgresKeys {

  private val timed: Regex = """timestamp(?:\((\d)\))? (with|without) time zone""".r

  /** Whether the column has no zone, and the session's has hours that come twice. */
  def mayRepeat(own: DataType, column: PostgresColumn): Boolean = (own, column.sqlType) match {
    case (TimestampType, timed(_, "without")) => !sessionZone.getRules.isFixedOffset
    case _ => false
  }

  /**
   * Whether a time has the date and the time of day of another one, an hour or half an hour before or
   * behind it.
   */
  def isRepeated(time: Column): Column = {
    def first(of: Column) = of.cast(TimestampNTZType).cast(TimestampType)
    Seq(60, 30).foldLeft(first(time) =!= time) { (found, minutes) =>
      found or first(time + expr(s"INTERVAL '$minutes' MINUTE")) === time
    }
  }

  /** Whether the database gives a time zone to the values. */
  def hasNoZone(own: DataType, column: PostgresColumn): Boolean = (own, column.sqlType) match {
    case (TimestampNTZType | _: StringType, timed(_, "with")) => true
    case _ => false
  }

  /** Lets the database read times as the session does, whatever the JVM's zone. */
  def setZone: String = Try(sessionZone.normalized).toOption match {
    case Some(offset: ZoneOffset) =>
      s"SET LOCAL TIME ZONE INTERVAL '${offset.getTotalSeconds} seconds'"
    case _ => s"SET LOCAL TIME ZONE '${sessionZone.getId}'"
  }

  private def sessionZone: ZoneId = DateTimeUtils.getZoneId(SQLConf.get.sessionLocalTimeZone)
}
