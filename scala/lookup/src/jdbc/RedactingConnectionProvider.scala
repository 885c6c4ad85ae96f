package io.firesteel.lookup.jdbc

import java.sql.{Connection, Driver}

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.jdbc.JdbcConnectionProvider

/**
 * Opens the connections of Spark's own scan of a `firesteel-jdbc` table, so that a failed
 * connection shows no password there either. It delegates to the provider that Spark would use
 * without it.
 */
final class RedactingConnectionProvider extends JdbcConnectionProvider {
  import RedactingConnectionProvider._

  override val name: String = providerName

  override def canHandle(driver: Driver, options: Map[String, String]): Boolean =
    CaseInsensitiveMap(options).get(chosen).contains(providerName)

  override def getConnection(driver: Driver, options: Map[String, String]): Connection = {
    val all = CaseInsensitiveMap(options)
    val before = all.get(replaced).map(chosen -> _)
    new Connections(JdbcSettings.of(((all - chosen - replaced) ++ before).toMap.asJava)).open()
  }

  /** The other provider takes its own locks. */
  override def modifiesSecurityContext(driver: Driver, options: Map[String, String]): Boolean =
    false
}

private[jdbc] object RedactingConnectionProvider {

  private val providerName = "firesteel-jdbc"
  private val chosen = JDBCOptions.JDBC_CONNECTION_PROVIDER
  private val replaced = "firesteelReplacedConnectionProvider"

  /** Options with which Spark connects through this provider. */
  def optionsOf(settings: JdbcSettings): JDBCOptions = {
    val all = CaseInsensitiveMap(settings.parameters)
    val before = all.get(chosen).map(replaced -> _)
    new JDBCOptions(CaseInsensitiveMap((all - chosen ++ before + (chosen -> providerName)).toMap))
  }
}
