package org.apache.spark.sql

import java.util.UUID

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.internal.config
import org.apache.spark.memory.TaskMemoryManager
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.{InternalRow, QueryPlanningTracker}
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.streaming.InternalOutputModes
import org.apache.spark.sql.classic
import org.apache.spark.sql.connector.expressions.filter.{Predicate => PushedPredicate}
import org.apache.spark.sql.execution.{ColumnarRule, CommandExecutionMode, LogicalRDD, QueryExecution, SparkPlan}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Strategy
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata
import org.apache.spark.sql.firesteel.streaming.{IncrementalExecution, OffsetSeqMetadata, StatefulOperator, StateStoreWriter, StreamingQueryWrapper, WatermarkPropagator}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.{OutputMode, StreamingQuery}
import org.apache.spark.sql.types.{DataType, StringType}

/**
 * Access to Spark's private API, and to what its versions have in different forms: aliases and
 * forwards, without logic. `Since41` has what 4.1 brought or changed, in terms of 4.1 in one folder
 * and in terms of the versions before in another.
 */
package object firesteel extends Since41 with Since42 with Since43 {

  /** `private[spark]`; rooms need the name to write the types of their settings. */
  type ConfigEntry[T] = config.ConfigEntry[T]

  /** `private[spark]`; an exchange of ours needs the name. */
  type MapOutputStatistics = org.apache.spark.MapOutputStatistics

  /**
   * Runs `body` with `session` as the active session, which operators take when they are created.
   */
  def active[T](session: SparkSession)(body: => T): T =
    session.asInstanceOf[classic.SparkSession].withActive(body)

  /** The settings of a session, which need not be the one that runs. */
  def confOf(session: SparkSession): SQLConf =
    session.asInstanceOf[classic.SparkSession].sessionState.conf

  /** The columnar rules of all extensions of a session. */
  def columnarRules(session: SparkSession): Seq[ColumnarRule] =
    session.asInstanceOf[classic.SparkSession].sessionState.columnarRules

  /** The physical plan before Spark adds shuffles, as the session's strategies make it. */
  def physicalPlan(session: SparkSession, plan: LogicalPlan): SparkPlan =
    session.asInstanceOf[classic.SparkSession].sessionState.planner.plan(plan).next()

  /** Spark's own plans for an aggregate, whose input is planned later. */
  def sparkAggregate(session: SparkSession, plan: LogicalPlan): Seq[SparkPlan] =
    session.asInstanceOf[classic.SparkSession].sessionState.planner.Aggregation(plan)

  /** The plan as the active session's analyser resolves it. */
  def analyzed(plan: LogicalPlan): LogicalPlan =
    classic.SparkSession.active.sessionState.analyzer.execute(plan)

  /** The memory manager of a running task, `private[spark]` on `TaskContext`. */
  def taskMemory(task: TaskContext): TaskMemoryManager = task.taskMemoryManager()

  /** Adds an operator's peak to a task's own, `private[spark]` on `TaskMetrics`. */
  def countPeakMemory(task: TaskContext, bytes: Long): Unit =
    task.taskMetrics().incPeakExecutionMemory(bytes)

  /** Adds spilled bytes to a task's metrics, `private[spark]`. */
  def countSpilled(task: TaskContext, bytes: Long): Unit =
    task.taskMetrics().incMemoryBytesSpilled(bytes)

  /** Unpersists an RDD without the warning that Spark gives for one that cut its lineage. */
  def forgetRdd(rdd: RDD[_]): Unit = rdd.sparkContext.unpersistRDD(rdd.id, blocking = false)

  /** Size of a page of execution memory, the unit in which Spark's sorters reserve memory. */
  def pageSizeBytes: Long = SparkEnv.get.memoryManager.pageSizeBytes

  /** Normalises -0.0 to 0.0 and all NaNs to one, also inside structs and arrays. */
  def normalizeFloats(value: Expression): Expression = NormalizeFloatingNumbers.normalize(value)

  /** Whether strings of this type are ordered by their bytes, as UTF8_BINARY is. */
  def comparesBytes(string: StringType): Boolean = string.supportsBinaryOrdering

  /** Whether the type, or a type inside it, matches; Spark's own is `private[sql]`. */
  def hasType(dataType: DataType)(isOne: PartialFunction[DataType, Boolean]): Boolean =
    dataType.existsRecursively(isOne.applyOrElse(_, (_: DataType) => false))

  /** The type with everything in it nullable, `private[spark]`. */
  def asNullable(dataType: DataType): DataType = dataType.asNullable

  /** The execution of a classic Dataset. */
  def executionOf(dataset: Dataset[_]): QueryExecution =
    dataset.asInstanceOf[classic.Dataset[_]].queryExecution

  /** Whether a plan is a whole DataFrame, here or over Connect, and not part of a SELECT. */
  def isOfDataset(plan: LogicalPlan): Boolean =
    plan.getTagValue(classic.Dataset.DATASET_ID_TAG).nonEmpty ||
      plan.getTagValue(LogicalPlan.PLAN_ID_TAG).nonEmpty

  /** The execution of a stream's last micro-batch, if there was one. */
  def lastBatchOf(query: StreamingQuery): Option[QueryExecution] = query match {
    case wrapper: StreamingQueryWrapper => Option(wrapper.streamingQuery.lastExecution)
    case _ => None
  }

  /**
   * Plans a SQL text in `session` up to its physical plan, without running it: by default Spark
   * runs a command as soon as its plan is requested.
   */
  def planOf(session: SparkSession, sqlText: String): QueryExecution = {
    val classicSession = session.asInstanceOf[classic.SparkSession]
    val parsed = classicSession.sessionState.sqlParser.parsePlan(sqlText)
    new QueryExecution(
      classicSession,
      parsed,
      new QueryPlanningTracker,
      CommandExecutionMode.SKIP)
  }

  /**
   * The relation of a name in the current scope, as in a view's body; the name itself if there is
   * none.
   */
  def resolvedRelation(session: SparkSession, name: UnresolvedRelation): LogicalPlan =
    session.asInstanceOf[classic.SparkSession].sessionState.analyzer.ResolveRelations(name)

  /** An unresolved expression. */
  def parseExpression(session: SparkSession, text: String): Expression =
    session.asInstanceOf[classic.SparkSession].sessionState.sqlParser.parseExpression(text)

  /** Spark's temporary function of that name, applied to arguments; `None` if there is none. */
  def callFunction(
      session: SparkSession,
      name: String,
      arguments: Seq[Expression]): Option[Expression] =
    session
      .asInstanceOf[classic.SparkSession]
      .sessionState
      .catalog
      .resolveBuiltinOrTempFunction(name, arguments)

  /** Plans a logical plan of `session` as a new query. */
  def executionOf(session: SparkSession, plan: LogicalPlan): QueryExecution =
    session.asInstanceOf[classic.SparkSession].sessionState.executePlan(plan)

  /** An output mode by its case-insensitive name, `private[sql]`. */
  def outputModeOf(name: String): OutputMode = InternalOutputModes(name)

  /** Plans a stream of `session` that has not started, as Spark's own EXPLAIN does. */
  def streamExecutionOf(
      session: SparkSession,
      plan: LogicalPlan,
      mode: OutputMode): QueryExecution =
    new IncrementalExecution(
      session.asInstanceOf[classic.SparkSession],
      plan,
      mode,
      checkpointLocation = "<unknown>",
      queryId = UUID.randomUUID(),
      runId = UUID.randomUUID(),
      currentBatchId = 0,
      prevOffsetSeqMetadata = None,
      offsetSeqMetadata = OffsetSeqMetadata(0, 0),
      watermarkPropagator = WatermarkPropagator.noop(),
      isFirstBatch = false
    )

  /** What Spark notes of an operator with state in its checkpoint. */
  def operatorMetadataOf(operator: StatefulOperator): OperatorStateMetadata = operator match {
    case writer: StateStoreWriter => writer.operatorStateMetadata()
    case other => throw new IllegalArgumentException(other.nodeName)
  }

  /** A logical plan as a DataFrame, `private[sql]`. */
  def dataFrameOf(session: SparkSession, plan: LogicalPlan): DataFrame =
    classic.Dataset.ofRows(session.asInstanceOf[classic.SparkSession], plan)

  /** The rows of an RDD as a plan; Spark's takes a classic session. */
  def planOf(session: SparkSession, columns: Seq[Attribute], rows: RDD[InternalRow]): LogicalRDD =
    LogicalRDD(columns, rows)(session.asInstanceOf[classic.SparkSession])

  /** A filter as connectors receive it, `protected[sql]`; `None` if it cannot be translated. */
  def pushedPredicate(filter: Expression): Option[PushedPredicate] =
    DataSourceV2Strategy.translateFilterV2(filter)
}
