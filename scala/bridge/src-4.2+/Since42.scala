package org.apache.spark.sql.firesteel

import java.sql.Connection

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction
import org.apache.spark.sql.catalyst.expressions.{Attribute, CollationKey, Expression, NamedExpression, SortOrder}
import org.apache.spark.sql.catalyst.expressions.aggregate.{CollectList, CollectSet}
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}
import org.apache.spark.sql.execution.window.WindowEvaluatorFactory
import org.apache.spark.sql.internal.SQLConf
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

  /**
   * Evaluates window functions in one task. The rows come in the order of the window, one partition
   * after another, and each is returned with its results. It reads one row ahead.
   *
   * @param functions calls over `columns`, as aliases
   */
  def windowEvaluator(
      functions: Seq[NamedExpression],
      partition: Seq[Expression],
      order: Seq[SortOrder],
      columns: Seq[Attribute]): Iterator[InternalRow] => Iterator[InternalRow] = {
    def metric = new SQLMetric("size")
    def evaluator =
      new WindowEvaluatorFactory(functions, partition, order, columns, metric, metric, metric)
        .createEvaluator()
    // With a tree, the last digits of a sum of floats would depend on where the rows begin.
    val tree = "spark.sql.window.segmentTree.enabled"
    // The evaluator reads the setting when it is made.
    val made =
      if (!SQLConf.get.getConfString(tree, "false").toBoolean) evaluator
      else {
        val settings = new SQLConf
        SQLConf.get.getAllConfs.foreach { case (key, value) => settings.setConfString(key, value) }
        settings.setConfString(tree, "false")
        SQLConf.withExistingConf(settings)(evaluator)
      }
    made.eval(0, _)
  }
}
