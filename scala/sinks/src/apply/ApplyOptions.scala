package io.firesteel.sinks.apply

import java.util.Locale

import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap

/**
 * The options of `firesteel-table`, checked.
 *
 * @param keys columns that identify a row of the target
 * @param kind the row kind column; none to search it by its usual names
 * @param batch the number of the micro-batch
 * @param query the writer's name, if the user gave one
 * @param upserts whether the changelog has no `-U` rows
 * @param path the folder, if the target is one
 * @param buckets number of buckets of a new folder
 * @param retentionMillis how long replaced files are kept
 * @param database the options of the JDBC driver and of Spark's JDBC source
 */
final private[sinks] case class ApplyOptions(
    keys: Seq[String],
    kind: Option[String],
    batch: Long,
    query: Option[String],
    upserts: Boolean,
    path: Option[String],
    buckets: Option[Int],
    retentionMillis: Long,
    database: Map[String, String]) {

  /** Without the database options, which contain passwords. */
  override def toString: String = s"ApplyOptions(${keys.mkString(", ")}, batch $batch)"
}

private[sinks] object ApplyOptions {

  private val prefix = "changes."
  val keys: String = prefix + "keys"
  val kind: String = prefix + "op"
  val batch: String = prefix + "batch-id"
  val query: String = prefix + "query-id"
  val upserts: String = prefix + "upserts"
  val buckets: String = prefix + "buckets"
  val retention: String = prefix + "retention"
  val path: String = "path"

  private val known = Seq(keys, kind, batch, query, upserts, buckets, retention)

  /** A reader of an earlier version finds its files for this time. */
  private val defaultRetention = "10min"

  def of(options: Map[String, String]): ApplyOptions = {
    // Drivers tell the case of their own options apart.
    val written = options match {
      case its: CaseInsensitiveMap[String @unchecked] => its.originalMap
      case its => its
    }
    val (ours, others) = written.partition { case (name, _) => lower(name).startsWith(prefix) }
    val own = ours.map { case (name, value) => lower(name) -> value }
    own.keys.toSeq.sorted.filterNot(known.contains).foreach { name =>
      throw ApplyErrors.unknownOption(name, known)
    }
    def required(option: String) = own.getOrElse(option, throw ApplyErrors.missingOption(option))
    val (paths, database) = others.partition { case (name, _) => lower(name) == path }
    ApplyOptions(
      names(required(keys)),
      own.get(kind),
      number(batch, required(batch), "a micro-batch's number")(_ >= 0),
      own.get(query),
      own.get(upserts).exists(truth),
      paths.values.headOption,
      own.get(buckets).map(number(buckets, _, "from 1 to 10000")(n => n >= 1 && n <= 10000).toInt),
      millis(own.getOrElse(retention, defaultRetention)),
      database
    )
  }

  /** A JSON array, or names separated by commas. */
  private def names(text: String): Seq[String] = {
    val all =
      if (text.trim.startsWith("[")) {
        Try(new ObjectMapper().readValue(text, classOf[Array[String]]).toSeq).getOrElse(Nil)
      } else text.split(",", -1).toSeq.map(_.trim)
    if (all.isEmpty || all.exists(_.isEmpty)) {
      throw ApplyErrors.badOption(keys, text, "column names")
    }
    all
  }

  private def number(option: String, text: String, expected: String)(
      accepted: Long => Boolean): Long =
    text.trim.toLongOption
      .filter(accepted)
      .getOrElse(throw ApplyErrors.badOption(option, text, expected))

  private def truth(text: String): Boolean =
    text.trim.toLowerCase(Locale.ROOT).toBooleanOption
      .getOrElse(throw ApplyErrors.badOption(upserts, text, "true or false"))

  private def millis(text: String): Long =
    Try(JavaUtils.timeStringAsMs(text.replace(" ", ""))).toOption
      .filter(_ >= 0)
      .getOrElse(throw ApplyErrors.badOption(retention, text, "a duration such as 90s or 10min"))

  private def lower(name: String): String = name.toLowerCase(Locale.ROOT)
}
