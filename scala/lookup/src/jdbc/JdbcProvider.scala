package io.firesteel.lookup.jdbc

import org.apache.spark.sql.connector.catalog.{Table, TableProvider}
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * The data source `firesteel-jdbc`: a table of any JDBC database, to look up by key and to scan.
 *
 * {{{
 *   CREATE TABLE customers USING `firesteel-jdbc`
 *   OPTIONS (url 'jdbc:postgresql://host/db', dbtable 'customers', user 'u', password 'p')
 * }}}
 *
 * Takes the options of Spark's source `jdbc`, and those of [[JdbcSettings]].
 */
final class JdbcProvider extends TableProvider with DataSourceRegister {

  override def shortName(): String = JdbcProvider.name

  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    DatabaseSchema.of(JdbcSettings.of(options.asCaseSensitiveMap()))

  /** A catalog that stores the schema need not read it from the database for every query. */
  override def supportsExternalMetadata(): Boolean = true

  override def getTable(
      schema: StructType,
      partitioning: Array[Transform],
      properties: java.util.Map[String, String]): Table =
    new JdbcLookupTable(schema, JdbcSettings.of(properties))
}

private[jdbc] object JdbcProvider {
  val name = "firesteel-jdbc"
}
