package io.firesteel.lookup.jdbc

import io.firesteel.core.jdbc.Secrets
import io.firesteel.lookup.{LookupErrors, LookupOptions}
import java.util.Locale

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions

/**
 * The checked options of one table.
 *
 * @param parameters the options of Spark's JDBC source and of the driver, passwords included. Only
 *   Spark's connection factory gets them. They include the driver's class, so that tasks use the
 *   class that was found at planning.
 * @param lookups the options `lookup.*` as written, in lower case
 */
private[jdbc] final class JdbcSettings private (
    private[jdbc] val parameters: Map[String, String],
    val lookups: Map[String, String])
  extends Serializable {

  /** Most keys for which the join asks at a time; the database's own limit may be lower. */
  val batchSize: Int = number("lookup.batch-size", default = 1000, min = 1)

  /** Most connections of one executor process. Flink's connector has one per task. */
  val poolSize: Int = number("lookup.jdbc.pool-size", default = 4, min = 1)

  /** Most retries of a failure that may pass. Flink's name and default. */
  val maxRetries: Int = number("lookup.max-retries", default = 3, min = 0)

  @transient lazy val options: JDBCOptions = new JDBCOptions(CaseInsensitiveMap(parameters))

  val secrets: Secrets = Secrets.of(parameters)

  /** The URL without its passwords. */
  def shownUrl: String = secrets.redact(parameter("url").getOrElse(""))

  /** The table's name for errors and plans. */
  def shownTable: String =
    secrets.redact(parameter("dbtable").map(_.trim).getOrElse("(query)"))

  /** All settings that a connection depends on. Tables with equal ones share a pool. */
  def connectionKey: Map[String, String] = {
    val own = Seq(
      JDBCOptions.JDBC_URL,
      JDBCOptions.JDBC_DRIVER_CLASS,
      JDBCOptions.JDBC_SESSION_INIT_STATEMENT,
      JDBCOptions.JDBC_CONNECTION_PROVIDER,
      JDBCOptions.JDBC_KEYTAB,
      JDBCOptions.JDBC_PRINCIPAL,
      JDBCOptions.JDBC_REFRESH_KRB5_CONFIG
    )
    options.asConnectionProperties.asScala.toMap ++
      own.flatMap(name => parameter(name).map(name -> _)) + ("pool" -> poolSize.toString)
  }

  /** The same with some of Spark's or the driver's options replaced. */
  def plus(more: Map[String, String]): JdbcSettings =
    new JdbcSettings((CaseInsensitiveMap(parameters) ++ JdbcSettings.foreign(more)).toMap, lookups)

  /** The same without the column types that the user has given. */
  def withoutSchema: JdbcSettings =
    new JdbcSettings(
      parameters.filterNot(_._1.equalsIgnoreCase(JDBCOptions.JDBC_CUSTOM_DATAFRAME_COLUMN_TYPES)),
      lookups)

  private def parameter(name: String): Option[String] = CaseInsensitiveMap(parameters).get(name)

  private def number(option: String, default: Int, min: Int): Int =
    lookups.get(option).fold(default) { text =>
      text.trim.toIntOption.filter(_ >= min).getOrElse(
        throw LookupErrors.badOption(option, text, s"a whole number of at least $min"))
    }

  override def toString: String = s"JdbcSettings($shownTable)"
}

private[jdbc] object JdbcSettings {

  private val ours = "lookup."

  /** The engine reads Flink's cache options from the table's properties. */
  private val known: Seq[String] =
    Seq("lookup.jdbc.pool-size", "lookup.max-retries") ++ LookupOptions.cacheNames

  def of(options: java.util.Map[String, String]): JdbcSettings = {
    val written = optionsOnly(options.asScala.toMap)
    val lookups = written.collect {
      case (key, value) if isOurs(key) => key.toLowerCase(Locale.ROOT) -> value
    }
    lookups.keys.toSeq.sorted.filterNot(known.contains).foreach(key =>
      throw LookupErrors.unknownOption(key, known))
    val parameters = CaseInsensitiveMap(foreign(written))
    if (!parameters.contains("url")) throw JdbcErrors.missingOption("url")
    if (!parameters.contains("dbtable") && !parameters.contains("query")) {
      throw JdbcErrors.missingOption("dbtable")
    }
    val driver = JdbcDriver.classOf(parameters, Secrets.of(written))
    val others = parameters.originalMap.filterNot { case (key, _) =>
      key.equalsIgnoreCase("driver")
    }
    new JdbcSettings(others + ("driver" -> driver), lookups)
  }

  private def foreign(options: Map[String, String]): Map[String, String] =
    options.filterNot { case (key, _) => isOurs(key) }

  private def isOurs(key: String): Boolean = key.toLowerCase(Locale.ROOT).startsWith(ours)

  /**
   * A catalog passes the table's properties too, including its own. The options that a user wrote
   * in `OPTIONS` have this prefix there. A driver would refuse the others.
   */
  private def optionsOnly(all: Map[String, String]): Map[String, String] = {
    val prefix = "option."
    val options = all.collect {
      case (key, value) if key.startsWith(prefix) => key.stripPrefix(prefix) -> value
    }
    if (options.isEmpty) all else options
  }
}
