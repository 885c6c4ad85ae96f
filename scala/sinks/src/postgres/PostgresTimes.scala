package io.firesteel.sinks.postgres

import java.time.{ZoneId, ZoneOffset}

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{ArrayType, DataType, DateType, StringType, TimestampNTZType, TimestampType}

/** Times that PostgreSQL keeps with a zone and Spark without, or the other way round. */
private[postgres] object PostgresTimes {

  /** Whether the column has no zone, and the session's has hours that come twice. */
  def mayRepeat(own: DataType, sqlType: String): Boolean =
    own == TimestampType && sqlType == "timestamp without time zone" &&
      !sessionZone.getRules.isFixedOffset

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
  def hasNoZone(own: DataType, sqlType: String): Boolean = own match {
    case ArrayType(element, _) => sqlType.endsWith("[]") && hasNoZone(element, sqlType.dropRight(2))
    case TimestampNTZType | DateType | _: StringType => sqlType == "timestamp with time zone"
    case _ => false
  }

  /** Lets the database read times as the session does, whatever the JVM's zone. */
  def setZone: String = sessionZone.normalized match {
    case offset: ZoneOffset => s"SET LOCAL TIME ZONE INTERVAL '${offset.getTotalSeconds} seconds'"
    case region => s"SET LOCAL TIME ZONE '${region.getId}'"
  }

  private def sessionZone: ZoneId = DateTimeUtils.getZoneId(SQLConf.get.sessionLocalTimeZone)
}
