package org.apache.spark.sql.firesteel

import java.sql.Connection

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.{RewriteCollationJoin, UnresolvedFunction}
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, NamedExpression, SortOrder}
import org.apache.spark.sql.catalyst.expressions.aggregate.{CollectList, CollectSet}
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.{StateStore, StateStoreProvider}
import org.apache.spark.sql.execution.window.WindowEvaluatorFactory
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

  /** Replaces collated strings by keys that are binary equal if the strings are equal. */
  def binaryKey(key: Expression): Expression =
    processExpression.invoke(RewriteCollationJoin, key, key.dataType).asInstanceOf[Expression]

  /** Private in the rule that does it for the keys of joins. */
  private lazy val processExpression = {
    val all = RewriteCollationJoin.getClass.getDeclaredMethods
    val method = all.find(_.getName.endsWith("processExpression")).get
    method.setAccessible(true)
    method
  }

  /** Whether a state store can begin empty at a later version than its first. */
  val hasEmptyStores: Boolean = false

  def emptyStore(provider: StateStoreProvider, version: Long): StateStore =
    throw new UnsupportedOperationException(s"no empty store at version $version of $provider")

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
    val evaluator =
      new WindowEvaluatorFactory(functions, partition, order, columns, metric)
        .createEvaluator()
    evaluator.eval(0, _)
  }
}
