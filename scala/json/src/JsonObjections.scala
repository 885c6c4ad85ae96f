package io.firesteel.json

import io.firesteel.core.decide.Decline

import scala.util.Try

import org.apache.spark.sql.catalyst.util.DateTimeUtils
import org.apache.spark.sql.firesteel.hasType
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, DateType, TimestampNTZType, TimestampType}

/** Why documents of a schema are left to Spark. */
private[json] object JsonObjections {

  /**
   * @param options those of Spark's parser
   * @param corruptColumn the field for records that could not be read
   */
  def of(
      schema: DataType,
      options: Map[String, String],
      zone: String,
      corruptColumn: String): Option[Decline] =
    JsonOptions.objection(options, hasTimes(schema))
      .orElse(Option.when(Try(DateTimeUtils.getZoneId(zone)).isFailure)(
        JsonDecline.ReadOption("timeZone")))
      .orElse(JsonSchema.objection(schema, corruptColumn))
      .orElse(Option.when(hasTimes(schema) && JsonOptions.timePolicy == "LEGACY")(
        JsonDecline.Legacy(SQLConf.LEGACY_TIME_PARSER_POLICY.key)))

  def hasTimes(schema: DataType): Boolean = hasType(schema) {
    case DateType | TimestampType | TimestampNTZType => true
  }
}
