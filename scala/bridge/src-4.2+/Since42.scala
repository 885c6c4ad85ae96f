package org.apache.spark.sql.firesteel

import java.sql.Connection

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.{CollationKey, Expression}
import org.apache.spark.sql.catalyst.expressions.aggregate.{CollectList, CollectSet}
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}
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

  /** Replaces collated strings by keys that are binary equal if the strings are equal. */
  def binaryKey(key: Expression): Expression = CollationKey.injectCollationKey(key)

  /** Whether a state store can begin empty at a later version than its first. */
  val hasEmptyStores: Boolean = true

  /**
   * A store without entries, whose commit creates the version after `version`; not every provider
   * supports it.
   */
  def emptyStore(provider: StateStoreProvider, version: Long): StateStore =
    provider.getStore(version, None, forceSnapshotOnCommit = false, loadEmpty = true)
}
