package io.firesteel.json.files

import io.firesteel.core.decide.Decline
import io.firesteel.json.{JsonDecline, JsonObjections, JsonOptions}

import java.util.Locale

import org.apache.spark.sql.catalyst.json.JSONOptions
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/** Why lines of JSON files are left to Spark. */
private[files] object FileObjections {

  /** Options of lines and of writing, and of inference, which is over. */
  private val ofOthers =
    Set("linesep", "compression", "samplingratio", "ignorenullfields", "pretty", "sortkeys")

  def of(columns: StructType, options: Map[String, String]): Option[Decline] = {
    val ofParser = options.filter { case (name, value) =>
      isKnown(name.toLowerCase(Locale.ROOT)) &&
      !isSafe(name.toLowerCase(Locale.ROOT), value.toLowerCase(Locale.ROOT))
    }
    val read = PlainJsonFormat.optionsOf(options)
    if (!SQLConf.get.getConf(SQLConf.JSON_EXACT_STRING_PARSING))
      Some(JsonDecline.Legacy(SQLConf.JSON_EXACT_STRING_PARSING.key))
    else if (columns.isEmpty) JsonOptions.objection(ofParser, hasTimes = false)
    else
      JsonObjections.of(columns, ofParser, read.zoneId.getId, read.columnNameOfCorruptRecord)
  }

  /** A source may have options that the parser does not know. */
  private def isKnown(name: String): Boolean =
    JSONOptions.getAllOptions.exists(_.equalsIgnoreCase(name))

  private def isSafe(name: String, value: String): Boolean = name match {
    case "multiline" => value == "false"
    case "mode" => value == "dropmalformed"
    case other => ofOthers(other)
  }
}
