package org.apache.spark.sql.firesteel

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{Add, BinaryArithmetic, DirectShufflePartitionID, EvalMode, Expression, NumericEvalContext}
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, ShufflePartitionIdPassThrough}
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.classic
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.execution.datasources.DataSourceUtils
import org.apache.spark.sql.execution.datasources.jdbc.{JDBCOptions, JDBCRelation}
import org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCScanBuilder
import org.apache.spark.sql.execution.streaming.{ContinuousTrigger, RealTimeTrigger}
import org.apache.spark.sql.execution.streaming.state.{ReadStateStore, StateSchemaCompatibilityChecker}
import org.apache.spark.sql.types.{DataType, StructType, TimeType}

/** What Spark 4.1 brought or changed. */
private[firesteel] trait Since41 {

  /** Sends each row to the partition in an INT column, which must be less than `numPartitions`. */
  def shuffleByNumber(column: Expression, numPartitions: Int): Partitioning =
    ShufflePartitionIdPassThrough(DirectShufflePartitionID(column), numPartitions)

  /** Whether it is a time of day. */
  def isTime(dataType: DataType): Boolean = dataType.isInstanceOf[TimeType]

  /** How an overflow is handled. */
  def evalModeOf(sum: Sum): EvalMode.Value = sum.evalContext.evalMode

  def evalModeOf(arithmetic: BinaryArithmetic): EvalMode.Value = arithmetic.evalMode

  def add(left: Expression, right: Expression, evalMode: EvalMode.Value): Add =
    Add(left, right, NumericEvalContext(evalMode))

  def sumOf(child: Expression, evalMode: EvalMode.Value): Sum =
    Sum(child, NumericEvalContext(evalMode))

  /** Ends the reading of a store. */
  def release(store: ReadStateStore): Unit = store.release()

  /** Whether a union says how its rows lie, if those of its inputs lie alike. */
  val unionsHaveLayouts: Boolean = true

  /** The trigger of a stream that does not run in micro-batches. */
  def otherTrigger(write: WriteToStreamStatement): Option[String] = write.trigger match {
    case _: ContinuousTrigger => Some("a continuous trigger")
    case _: RealTimeTrigger => Some("a real-time trigger")
    case _ => None
  }

  /** The file with the schema of a state store. */
  def stateSchemaFile(store: Path): Path = StateSchemaCompatibilityChecker.schemaFile(store)

  /** Whether `spark.sql.files.ignoreCorruptFiles` covers a reader's exception. */
  private[firesteel] def isCorruptFile(thrown: Throwable): Boolean =
    DataSourceUtils.shouldIgnoreCorruptFileException(thrown)

  /** The schema that Spark's JDBC source infers; it notes the database's names of the types. */
  private[firesteel] def jdbcSchema(resolver: Resolver, options: JDBCOptions): StructType =
    JDBCRelation.getSchema(resolver, options)

  /** The scan of Spark's JDBC source, with all its pushdown. */
  private[firesteel] def jdbcScan(schema: StructType, options: JDBCOptions): ScanBuilder =
    new JDBCScanBuilder(classic.SparkSession.active, schema, options, Map.empty)
}
