package io.firesteel.json.files

import io.firesteel.core.decide.Decline
import io.firesteel.json.{JsonDecline, JsonObjections, JsonOptions}

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.catalyst.json.JSONOptions
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.execution.datasources.HadoopFsRelation
import org.apache.spark.sql.firesteel.confOf
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StringType

/** Why lines of JSON files are left to Spark. */
private[files] object FileObjections {

  /** Options of lines and of writing, and of inference, which is over. */
  private val ofOthers =
    Set("linesep", "compression", "samplingratio", "ignorenullfields", "pretty", "sortkeys")

  /** A setting of Spark 4.3: files in archives are read. */
  private val archives = "spark.sql.files.archive.reader.enabled"

  def of(scan: FileSourceScanExec): Option[Decline] = {
    val conf = confOf(scan.relation.sparkSession)
    if (!conf.getConf(SQLConf.JSON_EXACT_STRING_PARSING))
      Some(JsonDecline.Legacy(SQLConf.JSON_EXACT_STRING_PARSING.key))
    else if (conf.getConfString(archives, "false").toBoolean)
      Some(JsonDecline.ReadOption(archives))
    else
      Try(PlainJsonFormat.optionsOf(scan.relation.options, scan.relation.sparkSession))
        .fold(_ => Some(refused(scan.relation)), objection(scan, _))
  }

  /** Spark refuses a value of an option when it reads. */
  private def refused(relation: HadoopFsRelation): Decline =
    JsonDecline.ReadOption(relation.options.collectFirst {
      case (name, value)
          if Try(PlainJsonFormat.optionsOf(Map(name -> value), relation.sparkSession)).isFailure =>
        name
    }.getOrElse(relation.options.keys.mkString(", ")))

  private def objection(scan: FileSourceScanExec, read: JSONOptions): Option[Decline] = {
    val columns = scan.requiredSchema
    val options = ofParser(scan.relation.options)
    schema(scan, read.columnNameOfCorruptRecord).orElse {
      if (columns.isEmpty) JsonOptions.objection(options, hasTimes = false)
      else
        JsonObjections.of(columns, options, read.zoneId.getId, read.columnNameOfCorruptRecord)
    }.orElse(Option.when(JsonObjections.hasTimes(columns) && JsonOptions.timePolicy != "CORRECTED")(
      JsonDecline.Legacy(SQLConf.LEGACY_TIME_PARSER_POLICY.key)))
  }

  /** Spark refuses such scans when they begin. */
  private def schema(scan: FileSourceScanExec, corrupt: String): Option[Decline] =
    if (scan.requiredSchema.names.sameElements(Seq(corrupt)))
      Some(JsonDecline.Schema("a column for corrupt records alone"))
    else
      scan.relation.dataSchema.find(_.name == corrupt)
        .filter(its => its.dataType != StringType || !its.nullable)
        .map(_ => JsonDecline.Schema("a column for corrupt records that is no nullable STRING"))

  private def ofParser(options: Map[String, String]): Map[String, String] =
    options.filter { case (name, value) =>
      isKnown(name.toLowerCase(Locale.ROOT)) &&
      !isSafe(name.toLowerCase(Locale.ROOT), value.toLowerCase(Locale.ROOT))
    }

  /** A source may have options that the parser does not know. */
  private def isKnown(name: String): Boolean =
    limits(name) || JSONOptions.getAllOptions.exists(_.equalsIgnoreCase(name))

  /** Options of the parser that are not among Spark's list of them. */
  private val limits = Set("maxnestingdepth", "maxnumlen", "maxstringlen")

  private def isSafe(name: String, value: String): Boolean = name match {
    case "multiline" => value == "false"
    case "mode" => value == "dropmalformed"
    case other => ofOthers(other)
  }
}
