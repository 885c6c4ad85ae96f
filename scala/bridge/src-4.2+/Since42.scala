package org.apache.spark.sql.firesteel

import java.sql.Connection

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.aggregate.{CollectList, CollectSet}
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.jdbc.JdbcDialect

/** What Spark 4.2 brought or changed. */
private[firesteel] trait Since42 {

  /** Whether a call says what to do with nulls, by `IGNORE NULLS` or `RESPECT NULLS`. */
  def hasNullTreatment(call: UnresolvedFunction): Boolean = call.ignoreNulls.isDefined

  def ignoresNulls(list: CollectList): Boolean = list.ignoreNulls

  def ignoresNulls(set: CollectSet): Boolean = set.ignoreNulls

  /** Prepares a connection for reading. */
  def beforeFetch(dialect: JdbcDialect, connection: Connection, options: JDBCOptions): Unit =
    dialect.beforeFetch(connection, options)

  def fetchSize(dialect: JdbcDialect, options: JDBCOptions): Int = dialect.getFetchSize(options)
}
