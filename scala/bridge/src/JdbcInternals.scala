package org.apache.spark.sql.firesteel

import java.sql.ResultSet

import org.apache.spark.TaskContext
import org.apache.spark.executor.InputMetrics
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.classic
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.execution.datasources.jdbc.{JDBCOptions, JdbcUtils}
import org.apache.spark.sql.jdbc.JdbcDialect
import org.apache.spark.sql.types.StructType

/** Private parts of Spark's JDBC source: schemas and rows are read exactly as it reads them. */
object JdbcInternals {

  /** The schema that Spark's JDBC source infers from these options, including `customSchema`. */
  def schemaOf(options: JDBCOptions): StructType =
    jdbcSchema(classic.SparkSession.active.sessionState.conf.resolver, options)

  /** The scan of Spark's JDBC source, with all its pushdown. */
  def scanOf(schema: StructType, options: JDBCOptions): ScanBuilder =
    jdbcScan(schema, options)

  /** The rows of a result set, in one reused row; they count as the running task's input. */
  def rowsOf(answer: ResultSet, dialect: JdbcDialect, schema: StructType): Iterator[InternalRow] = {
    val metrics = Option(TaskContext.get()).map(_.taskMetrics().inputMetrics)
    JdbcUtils.resultSetToSparkInternalRows(
      answer,
      dialect,
      schema,
      metrics.getOrElse(new InputMetrics))
  }
}
