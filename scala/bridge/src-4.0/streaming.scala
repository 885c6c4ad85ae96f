package org.apache.spark.sql.firesteel

import org.apache.spark.sql.{classic, Encoder, SparkSession}
import org.apache.spark.sql.execution.{streaming => before}

/** Classes of streams, which Spark 4.1 moved to other packages. */
package object streaming {
  type CheckpointFileManager = before.CheckpointFileManager
  val CheckpointFileManager: before.CheckpointFileManager.type = before.CheckpointFileManager
  type FileContextBasedCheckpointFileManager =
    before.FileContextBasedCheckpointFileManager
  type HDFSMetadataLog[T <: AnyRef] = before.HDFSMetadataLog[T]
  type OffsetSeqMetadata = before.OffsetSeqMetadata
  val OffsetSeqMetadata: before.OffsetSeqMetadata.type = before.OffsetSeqMetadata

  type FileStreamSink = before.FileStreamSink

  type IncrementalExecution = before.IncrementalExecution
  type StreamingQueryWrapper = before.StreamingQueryWrapper
  type StreamingRelation = before.StreamingRelation
  val SerializedOffset: before.SerializedOffset.type = before.SerializedOffset
  val ResolveWriteToStream: before.ResolveWriteToStream.type = before.ResolveWriteToStream
  val WatermarkPropagator: before.WatermarkPropagator.type = before.WatermarkPropagator

  type StatefulOperator = before.StatefulOperator
  type StatefulOperatorCustomMetric = before.StatefulOperatorCustomMetric
  type StatefulOperatorCustomSumMetric = before.StatefulOperatorCustomSumMetric
  val StatefulOperatorCustomSumMetric: before.StatefulOperatorCustomSumMetric.type =
    before.StatefulOperatorCustomSumMetric
  val StatefulOperatorPartitioning: before.StatefulOperatorPartitioning.type =
    before.StatefulOperatorPartitioning
  type StatefulOperatorStateInfo = before.StatefulOperatorStateInfo
  type EventTimeWatermarkExec = before.EventTimeWatermarkExec
  type StateStoreWriter = before.StateStoreWriter
  type StreamingGlobalLimitExec = before.StreamingGlobalLimitExec
  val StreamingGlobalLimitExec: before.StreamingGlobalLimitExec.type =
    before.StreamingGlobalLimitExec

  type MemoryStream[A] = before.MemoryStream[A]

  /** A stream of rows in memory, for tests. */
  def memoryStream[A](spark: SparkSession)(encoder: Encoder[A]): MemoryStream[A] =
    before.MemoryStream[A](encoder, spark.asInstanceOf[classic.SparkSession].sqlContext)
}
