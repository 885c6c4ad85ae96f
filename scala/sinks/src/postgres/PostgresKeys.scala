package io.firesteel.sinks.postgres

import java.time.{ZoneId, ZoneOffset}

import scala.util.Try
import scala.util.matching.Regex

import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, DecimalType, DoubleType, StringType, TimestampNTZType, TimestampType}

/** Types of Spark beside those of a table's columns. */
private[postgres] object PostgresKeys {

  private val timed: Regex = """timestamp(?:\((\d)\))? (with|without) time zone""".r
  private val numeric: Regex = """numeric\((\d+),(-?\d+)\)""".r

  /** Whether values that differ in Spark differ in the column. */
  def areExact(own: DataType, column: PostgresColumn): Boolean = (own, column.sqlType) match {
    case (TimestampType, timed(digits, zone)) =>
      isWhole(digits) && (zone == "with" || sessionZone.getRules.isFixedOffset)
    case (TimestampNTZType, timed(digits, zone)) =>
      isWhole(digits) && (zone == "without" || sessionZone.getRules.isFixedOffset)
    case (decimal: DecimalType, numeric(_, scale)) => decimal.scale <= scale.toInt
    case (DoubleType, "real") => false
    case (_: StringType, its) => column.isBinary && !isLoose(its)
    case _ => true
  }

  private def isWhole(digits: String): Boolean = digits == null || digits == "6"

  /** Numbers, dates and the like have several texts; `char(n)` ignores blanks at the end. */
  private def isLoose(sqlType: String): Boolean = Seq(
    "citext",
    "character(",
    "smallint",
    "integer",
    "bigint",
    "numeric",
    "real",
    "double",
    "date",
    "time",
    "interval",
    "inet",
    "cidr",
    "json").exists(sqlType.startsWith)

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
