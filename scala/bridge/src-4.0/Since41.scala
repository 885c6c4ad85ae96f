package org.apache.spark.sql.firesteel

import java.io.{FileNotFoundException, IOException}

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{Add, BinaryArithmetic, Divide, EvalMode, Expression, IntegralDivide, Multiply, Pmod, Remainder, Subtract}
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.streaming.WriteToStreamStatement
import org.apache.spark.sql.classic
import org.apache.spark.sql.connector.read.ScanBuilder
import org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions
import org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCScanBuilder
import org.apache.spark.sql.execution.streaming.state.ReadStateStore
import org.apache.spark.sql.types.{DataType, StructType}

/** What Spark 4.1 brought or changed, in terms of 4.0. */
private[firesteel] trait Since41 {

  /** Sends each row to the partition in an INT column, which must be less than `numPartitions`. */
  def shuffleByNumber(column: Expression, numPartitions: Int): Partitioning =
    new ByNumber(column, numPartitions)

  /** Whether it is a time of day: the type came with 4.1. */
  def isTime(dataType: DataType): Boolean = {
    val _ = dataType
    false
  }

  /** How an overflow is handled. */
  def evalModeOf(sum: Sum): EvalMode.Value = sum.evalMode

  def evalModeOf(arithmetic: BinaryArithmetic): EvalMode.Value = arithmetic match {
    case add: Add => add.evalMode
    case subtract: Subtract => subtract.evalMode
    case multiply: Multiply => multiply.evalMode
    case divide: Divide => divide.evalMode
    case divide: IntegralDivide => divide.evalMode
    case remainder: Remainder => remainder.evalMode
    case pmod: Pmod => pmod.evalMode
    case _ => EvalMode.LEGACY // operators on bits
  }

  def add(left: Expression, right: Expression, evalMode: EvalMode.Value): Add =
    Add(left, right, evalMode)

  def sumOf(child: Expression, evalMode: EvalMode.Value): Sum = Sum(child, evalMode)

  /** Ends the reading of a store. */
  def release(store: ReadStateStore): Unit = store.abort()

  /** Whether a union says how its rows lie, if those of its inputs lie alike. */
  val unionsHaveLayouts: Boolean = false

  /** The trigger of a stream that does not run in micro-batches. */
  def otherTrigger(write: WriteToStreamStatement): Option[String] =
    if (write.isContinuousTrigger) Some("a continuous trigger") else None

  /** The file with the schema of a state store. */
  def stateSchemaFile(store: Path): Path = new Path(new Path(store, "_metadata"), "schema")

  /** Whether `spark.sql.files.ignoreCorruptFiles` covers a reader's exception. */
  private[firesteel] def isCorruptFile(thrown: Throwable): Boolean = thrown match {
    case _: FileNotFoundException => false
    case _: RuntimeException | _: IOException | _: InternalError => true
    case _ => false
  }

  /** The schema that Spark's JDBC source infers, with the database's names of the types. */
  private[firesteel] def jdbcSchema(resolver: Resolver, options: JDBCOptions): StructType =
    JdbcSchema(resolver, options)

  /** The scan of Spark's JDBC source, with all its pushdown. */
  private[firesteel] def jdbcScan(schema: StructType, options: JDBCOptions): ScanBuilder =
    new JDBCScanBuilder(classic.SparkSession.active, schema, options)
}
