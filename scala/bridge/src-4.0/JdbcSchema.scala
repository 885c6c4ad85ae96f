package org.apache.spark.sql.firesteel

import scala.util.Using

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.execution.datasources.jdbc.{JDBCOptions, JdbcUtils}
import org.apache.spark.sql.jdbc.JdbcDialects
import org.apache.spark.sql.types.{MetadataBuilder, StructType}

/**
 * What `JDBCRelation.getSchema` does, over one connection, and the database's own name of each type
 * in the metadata of its column, where Spark 4.1 and later note it.
 */
private[firesteel] object JdbcSchema {

  def apply(resolver: Resolver, options: JDBCOptions): StructType = {
    val table = inferred(options)
    options.customSchema.fold(table)(JdbcUtils.getCustomSchema(table, _, resolver))
  }

  private def inferred(options: JDBCOptions): StructType = {
    val dialect = JdbcDialects.get(options.url)
    val query = options.prepareQuery + dialect.getSchemaQuery(options.tableOrQuery)
    Using.Manager { use =>
      val connection = use(dialect.createConnectionFactory(options)(-1))
      val statement = use(connection.prepareStatement(query))
      statement.setQueryTimeout(options.queryTimeout)
      val result = use(statement.executeQuery())
      val columns = JdbcUtils.getSchema(
        connection,
        result,
        dialect,
        alwaysNullable = true,
        isTimestampNTZ = options.preferTimestampNTZ)
      val names = (1 to columns.size).map(result.getMetaData.getColumnTypeName(_))
      StructType(columns.zip(names).map { case (column, name) =>
        val notes = new MetadataBuilder().withMetadata(column.metadata)
        column.copy(metadata = notes.putString("jdbcClientType", name).build())
      })
    }.get
  }
}
