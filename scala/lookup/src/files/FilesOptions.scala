package io.firesteel.lookup.files

import java.util.Locale

import scala.jdk.CollectionConverters._

import io.firesteel.lookup.LookupOptions
import org.apache.spark.network.util.JavaUtils
import org.apache.spark.sql.connector.catalog.TableCatalog

/**
 * The checked options of `firesteel-files`.
 *
 * @param idleMillis how long a loaded bucket is kept when no task uses it
 * @param reader options of Spark's Parquet reader and of Hadoop
 * @param lookups options of the lookup join, which are properties of the table
 */
private[files] final case class FilesOptions(
    path: Option[String],
    table: Option[String],
    buckets: Option[Int],
    bucketBy: Seq[String],
    idleMillis: Long,
    reader: Map[String, String],
    lookups: Map[String, String]) {

  /** Without the options, which can be secret. */
  override def toString: String = s"FilesOptions(${path.orElse(table).mkString})"
}

private[files] object FilesOptions {
  val path = "path"
  val table = "table"
  val buckets = "buckets"
  val bucketBy = "bucket-by"
  val idleTime = "idle-time"

  /** Longer than the time between two micro-batches. */
  private val defaultIdleMillis: Long = 10L * 60 * 1000

  private val own = Seq(path, table, buckets, bucketBy, idleTime)

  /** The prefix of options of Hadoop's file systems, which can be secret. */
  val fileSystem = "fs."

  /** The prefix of options of the lookup join. */
  private val ofLookups = "lookup."

  /** Options of Spark's Parquet source that apply here. */
  private val parquet = Seq(
    "mergeSchema",
    "datetimeRebaseMode",
    "int96RebaseMode",
    "ignoreCorruptFiles",
    "ignoreMissingFiles")

  /** Names of other owners: the lookup join, Hadoop's file systems, Spark's catalog. */
  private val foreign = Seq(ofLookups, fileSystem, TableCatalog.OPTION_PREFIX)

  /** Properties that Spark's catalog adds. */
  private val reserved = Set(
    TableCatalog.PROP_COLLATION,
    TableCatalog.PROP_COMMENT,
    TableCatalog.PROP_EXTERNAL,
    TableCatalog.PROP_IS_MANAGED_LOCATION,
    TableCatalog.PROP_LOCATION,
    TableCatalog.PROP_OWNER,
    TableCatalog.PROP_PROVIDER,
    "table_type" // of Spark since 4.1
  )

  def of(written: java.util.Map[String, String]): FilesOptions = {
    val known = (own ++ parquet).map(name => lower(name) -> name).toMap
    val (others, ours) = written.asScala.toMap.partition { case (name, _) =>
      foreign.exists(lower(name).startsWith) || reserved(lower(name))
    }
    val values = ours.map { case (name, value) =>
      known.getOrElse(lower(name), throw FilesErrors.unknownOption(name, own ++ parquet)) -> value
    }
    val options = FilesOptions(
      values.get(path),
      values.get(table),
      values.get(buckets).map(positive),
      values.get(bucketBy).fold(Seq.empty[String])(names),
      values.get(idleTime).fold(defaultIdleMillis)(millis),
      others.filter { case (name, _) => lower(name).startsWith(fileSystem) } ++ values -- own,
      lookupsOf(others)
    )
    complete(options)
  }

  private def lookupsOf(written: Map[String, String]): Map[String, String] =
    written.collect {
      case (name, value) if lower(name).startsWith(ofLookups) =>
        if (!LookupOptions.cacheNames.contains(lower(name)))
          throw FilesErrors.unknownOption(name, LookupOptions.cacheNames)
        lower(name) -> value
    }

  private def complete(options: FilesOptions): FilesOptions = {
    if (options.table.isDefined) {
      val told = s"omitted, because the option $table gives it"
      options.buckets.foreach(n => throw FilesErrors.invalidOption(buckets, n.toString, told))
      options.bucketBy.foreach(name => throw FilesErrors.invalidOption(bucketBy, name, told))
    } else {
      if (options.path.isEmpty) throw FilesErrors.missingOption(path)
      if (options.buckets.isEmpty) throw FilesErrors.missingOption(buckets)
      if (options.bucketBy.isEmpty) throw FilesErrors.missingOption(bucketBy)
    }
    options
  }

  private def positive(value: String): Int =
    value.trim.toIntOption
      .filter(_ > 0)
      .getOrElse(throw FilesErrors.invalidOption(buckets, value, "a positive whole number"))

  private def names(value: String): Seq[String] = {
    val all = value.split(",", -1).map(_.trim).toSeq
    val expected = "column names, separated by commas"
    if (all.exists(_.isEmpty)) throw FilesErrors.invalidOption(bucketBy, value, expected)
    all
  }

  private def millis(value: String): Long = {
    def wrong = FilesErrors.invalidOption(idleTime, value, "a duration such as 90s or 10min")
    val parsed =
      try JavaUtils.timeStringAsMs(value.replace(" ", ""))
      catch { case _: NumberFormatException => throw wrong }
    if (parsed < 0) throw wrong
    parsed
  }

  private def lower(name: String): String = name.toLowerCase(Locale.ROOT)
}
