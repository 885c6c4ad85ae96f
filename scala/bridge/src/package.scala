package org.apache.spark.sql

import java.util.UUID

import org.apache.spark.{SparkEnv, TaskContext}
import org.apache.spark.internal.config
import org.apache.spark.memory.TaskMemoryManager
import org.apache.spark.sql.catalyst.QueryPlanningTracker
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.expressions.{CollationKey, DirectShufflePartitionID, Expression}
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.{Partitioning, ShufflePartitionIdPassThrough}
import org.apache.spark.sql.catalyst.streaming.InternalOutputModes
import org.apache.spark.sql.classic
import org.apache.spark.sql.connector.expressions.filter.{Predicate => PushedPredicate}
import org.apache.spark.sql.execution.{CommandExecutionMode, QueryExecution}
import org.apache.spark.sql.execution.datasources.DataSourceUtils
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Strategy
import org.apache.spark.sql.execution.streaming.checkpointing.OffsetSeqMetadata
import org.apache.spark.sql.execution.streaming.runtime.{IncrementalExecution, StreamingQueryWrapper, WatermarkPropagator}
import org.apache.spark.sql.sources.BaseRelation
import org.apache.spark.sql.streaming.{OutputMode, StateOperatorProgress, StreamingQuery}
import org.apache.spark.sql.types.{DataType, StringType}

/**
 * The one door to what Spark keeps to itself: aliases and forwards, no logic.
 *
 * Only this module knows the Spark version; everything else of firesteel compiles against it and
 * against Spark's public classes.
 */
package object firesteel {

  /** `private[spark]`; rooms need the name to give their settings a written type. */
  type ConfigEntry[T] = config.ConfigEntry[T]

  /** With `session` as the active one, of which operators made within take themselves to be. */
  def active[T](session: classic.SparkSession)(body: => T): T = session.withActive(body)

  /** The memory manager of a running task, `private[spark]` on `TaskContext`. */
  def taskMemory(task: TaskContext): TaskMemoryManager = task.taskMemoryManager()

  /** Adds an operator's peak to a task's own, `private[spark]` on `TaskMetrics`. */
  def countPeakMemory(task: TaskContext, bytes: Long): Unit =
    task.taskMetrics().incPeakExecutionMemory(bytes)

  /** Adds bytes that went from memory to disk to a task's own, `private[spark]`. */
  def countSpilled(task: TaskContext, bytes: Long): Unit =
    task.taskMetrics().incMemoryBytesSpilled(bytes)

  /** Bytes of one page of execution memory, the unit in which Spark's sorters ask for memory. */
  def pageSizeBytes: Long = SparkEnv.get.memoryManager.pageSizeBytes

  /** Replaces collated strings by keys that are equal in binary when the strings are equal. */
  def binaryKey(key: Expression): Expression = CollationKey.injectCollationKey(key)

  /** Makes 0.0 equal to -0.0, and all NaNs equal, also within structs and arrays. */
  def normalizeFloats(value: Expression): Expression = NormalizeFloatingNumbers.normalize(value)

  /** Whether strings of this type are ordered by their bytes, as UTF8_BINARY is. */
  def comparesBytes(string: StringType): Boolean = string.supportsBinaryOrdering

  /** Whether the type is such a one, or has one in it; Spark's own is `private[sql]`. */
  def hasType(dataType: DataType)(isOne: PartialFunction[DataType, Boolean]): Boolean =
    dataType.existsRecursively(isOne.applyOrElse(_, (_: DataType) => false))

  /** The type with everything in it nullable, `private[spark]`. */
  def asNullable(dataType: DataType): DataType = dataType.asNullable

  /** The execution of a classic Dataset. */
  def executionOf(dataset: Dataset[_]): QueryExecution =
    dataset.asInstanceOf[classic.Dataset[_]].queryExecution

  /** Whether a plan is that of a DataFrame, here or over Connect, and no part of a SELECT. */
  def isOfDataset(plan: LogicalPlan): Boolean =
    plan.getTagValue(classic.Dataset.DATASET_ID_TAG).nonEmpty ||
      plan.getTagValue(LogicalPlan.PLAN_ID_TAG).nonEmpty

  /** The execution of a stream's last micro-batch, if there has been one. */
  def lastBatchOf(query: StreamingQuery): Option[QueryExecution] = query match {
    case wrapper: StreamingQueryWrapper => Option(wrapper.streamingQuery.lastExecution)
    case _ => None
  }

  /**
   * Plans a SQL text in `session` as far as its physical plan, without running it: by default
   * Spark runs a command as soon as its plan is asked for.
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

  /** What a name stands for where it is being analysed, as in a view's body; itself for nothing. */
  def resolvedRelation(session: SparkSession, name: UnresolvedRelation): LogicalPlan =
    session.asInstanceOf[classic.SparkSession].sessionState.analyzer.ResolveRelations(name)

  /** An expression as written, not resolved. */
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

  /** Plans a logical plan of `session` anew, to be run beside the query that is running. */
  def executionOf(session: SparkSession, plan: LogicalPlan): QueryExecution =
    session.asInstanceOf[classic.SparkSession].sessionState.executePlan(plan)

  /** An output mode by its name, in capitals or not, `private[sql]`. */
  def outputModeOf(name: String): OutputMode = InternalOutputModes(name)

  /** Plans a stream of `session` that is not started, as Spark's own EXPLAIN does. */
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

  /** The progress of a stateful operator under another name, `private[spark]`. */
  def renamedProgress(of: StateOperatorProgress, name: String): StateOperatorProgress =
    new StateOperatorProgress(
      name,
      of.numRowsTotal,
      of.numRowsUpdated,
      of.allUpdatesTimeMs,
      of.numRowsRemoved,
      of.allRemovalsTimeMs,
      of.commitTimeMs,
      of.memoryUsedBytes,
      of.numRowsDroppedByWatermark,
      of.numShufflePartitions,
      of.numStateStoreInstances,
      of.customMetrics,
      of.snapshotCustomMetricNames
    )

  /** A logical plan as a DataFrame, `private[sql]`. */
  def dataFrameOf(session: SparkSession, plan: LogicalPlan): DataFrame =
    classic.Dataset.ofRows(session.asInstanceOf[classic.SparkSession], plan)

  /** Sends each row to the partition whose number a column has: an INT within `numPartitions`. */
  def shuffleByNumber(column: Expression, numPartitions: Int): Partitioning =
    ShufflePartitionIdPassThrough(DirectShufflePartitionID(column), numPartitions)

  /** Whether the rows that a relation gives depend on the columns it is asked for. */
  def isProjectionSensitiveRead(relation: BaseRelation): Boolean =
    DataSourceUtils.isProjectionSensitiveRead(relation)

  /** A filter as connectors see it, `protected[sql]`; `None` for one that they cannot be told. */
  def pushedPredicate(filter: Expression): Option[PushedPredicate] =
    DataSourceV2Strategy.translateFilterV2(filter)
}
