package org.apache.spark.sql.firesteel

import java.sql.Connection

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.aggregate.{CollectList, CollectSet}
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.jdbc.JdbcDialect

/** What Spark 4.2 brought or changed, in terms of the versions before. */
private[firesteel] trait Since42 {

  /** Whether a call says what to do with nulls; `RESPECT NULLS`, the default, cannot be told. */
  def hasNullTreatment(call: UnresolvedFunction): Boolean = call.ignoreNulls

  def ignoresNulls(list: CollectList): Boolean = {
    val _ = list
    true
  }

  def ignoresNulls(set: CollectSet): Boolean = {
    val _ = set
    true
  }

  /** Prepares a connection for reading. */
  def beforeFetch(dialect: JdbcDialect, connection: Connection, options: JDBCOptions): Unit =
    dialect.beforeFetch(connection, options.parameters)

  def fetchSize(dialect: JdbcDialect, options: JDBCOptions): Int = {
    val _ = dialect
    options.fetchSize
  }
}
