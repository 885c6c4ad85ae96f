package org.apache.spark.sql.firesteel

import org.apache.spark.sql.{Encoder, SparkSession}
import org.apache.spark.sql.execution.streaming.{checkpointing, runtime, sinks}
import org.apache.spark.sql.execution.streaming.operators.stateful

/** Classes of streams, which Spark 4.1 moved to other packages. */
package object streaming {
  type CheckpointFileManager = checkpointing.CheckpointFileManager
  val CheckpointFileManager: checkpointing.CheckpointFileManager.type =
    checkpointing.CheckpointFileManager
  type FileContextBasedCheckpointFileManager =
    checkpointing.FileContextBasedCheckpointFileManager
  type HDFSMetadataLog[T <: AnyRef] = checkpointing.HDFSMetadataLog[T]
  type OffsetSeqMetadata = checkpointing.OffsetSeqMetadata
  val OffsetSeqMetadata: checkpointing.OffsetSeqMetadata.type = checkpointing.OffsetSeqMetadata

  type FileStreamSink = sinks.FileStreamSink

  type IncrementalExecution = runtime.IncrementalExecution
  type StreamingQueryWrapper = runtime.StreamingQueryWrapper
  type StreamingRelation = runtime.StreamingRelation
  val SerializedOffset: runtime.SerializedOffset.type = runtime.SerializedOffset
  val ResolveWriteToStream: runtime.ResolveWriteToStream.type = runtime.ResolveWriteToStream
  val WatermarkPropagator: runtime.WatermarkPropagator.type = runtime.WatermarkPropagator

  type StatefulOperator = stateful.StatefulOperator
  type StatefulOperatorCustomMetric = stateful.StatefulOperatorCustomMetric
  type StatefulOperatorCustomSumMetric = stateful.StatefulOperatorCustomSumMetric
  val StatefulOperatorCustomSumMetric: stateful.StatefulOperatorCustomSumMetric.type =
    stateful.StatefulOperatorCustomSumMetric
  val StatefulOperatorPartitioning: stateful.StatefulOperatorPartitioning.type =
    stateful.StatefulOperatorPartitioning
  type StatefulOperatorStateInfo = stateful.StatefulOperatorStateInfo
  type EventTimeWatermarkExec = stateful.EventTimeWatermarkExec
  type StateStoreWriter = stateful.StateStoreWriter
  type StreamingGlobalLimitExec = stateful.StreamingGlobalLimitExec
  val StreamingGlobalLimitExec: stateful.StreamingGlobalLimitExec.type =
    stateful.StreamingGlobalLimitExec

  type MemoryStream[A] = runtime.MemoryStream[A]

  /** A stream of rows in memory, for tests. */
  def memoryStream[A](spark: SparkSession)(encoder: Encoder[A]): MemoryStream[A] =
    runtime.MemoryStream[A](encoder, spark)
}
