package io.firesteel.json

import java.util.Locale

import io.firesteel.core.decide.Decline

import org.apache.spark.sql.internal.SQLConf

/** The options of Spark's parser. */
private[json] object JsonOptions {

  /**
   * Options that do not change how plain JSON is read, each `true` or `false`. Those that allow more
   * than JSON concern documents that Spark reads in any case. The last ones are of inference.
   */
  private val switches = Set(
    "allowcomments",
    "allowunquotedfieldnames",
    "allowsinglequotes",
    "allownumericleadingzeros",
    "allownonnumericnumbers",
    "allowbackslashescapinganycharacter",
    "allowunquotedcontrolchars",
    "enabledatetimeparsingfallback",
    "dropfieldifallnull",
    "prefersdecimal",
    "primitivesasstring",
    "infertimestamp"
  )

  private val modes = Set("permissive", "failfast")

  private val names = Set("columnnameofcorruptrecord", "timezone")

  private val formats = Set("dateformat", "timestampformat", "timestampntzformat", "timeformat")

  /** The first option that is not known to be safe, if any. */
  def objection(options: Map[String, String], hasTimes: Boolean): Option[Decline] =
    options.toSeq.sorted.collectFirst {
      case (option, value)
          if !isSafe(option.toLowerCase(Locale.ROOT), value.toLowerCase(Locale.ROOT), hasTimes) =>
        JsonDecline.ReadOption(option)
    }

  private def isSafe(option: String, value: String, hasTimes: Boolean): Boolean =
    names(option) || (option == "mode" && modes(value)) || (formats(option) && !hasTimes) ||
      (switches(option) && Set("true", "false")(value))

  /** Whether Spark parses times as Spark 2 did: `LEGACY`, `CORRECTED`, or `EXCEPTION` if they differ. */
  def timePolicy: String = SQLConf.get.getConf(SQLConf.LEGACY_TIME_PARSER_POLICY).toString
}
