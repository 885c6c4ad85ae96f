package org.apache.spark.sql.firesteel

import java.util.UUID

import scala.jdk.CollectionConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.spark.sql.{classic, SparkSession}
import org.apache.spark.sql.execution.datasources.v2.state.metadata.StateMetadataPartitionReader
import org.apache.spark.sql.execution.streaming.state.{OperatorStateMetadata, StateStoreConf}
import org.apache.spark.sql.firesteel.streaming.OffsetSeqMetadata
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.util.SerializableConfiguration

/** Access to the checkpoints of streaming queries. */
object Checkpoints {

  /** The ids, as in their checkpoints, of the queries that run in any session of this Spark. */
  def runningQueries(session: SparkSession): Set[UUID] =
    classicOf(session).sharedState.activeStreamingQueries.keySet.asScala.toSet

  /** The metadata of each stateful operator, as of a micro-batch. */
  def operators(
      checkpoint: String,
      hadoop: Configuration,
      batch: Long): Seq[OperatorStateMetadata] =
    new StateMetadataPartitionReader(checkpoint, new SerializableConfiguration(hadoop), batch)
      .allOperatorStateMetadata
      .toSeq

  /**
   * The state store settings of a micro-batch: those of the session, and those in its entry of the
   * offset log.
   */
  def storeConf(
      session: SparkSession,
      offsetMetadata: String,
      others: Map[String, String]): StateStoreConf = {
    val conf: SQLConf = classicOf(session).sessionState.conf.clone()
    OffsetSeqMetadata.setSessionConf(OffsetSeqMetadata(offsetMetadata), conf)
    others.foreach { case (key, value) => conf.setConfString(key, value) }
    StateStoreConf(conf)
  }

  private def classicOf(session: SparkSession) = session.asInstanceOf[classic.SparkSession]
}
