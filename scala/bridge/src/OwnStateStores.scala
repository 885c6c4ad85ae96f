package org.apache.spark.sql.firesteel

import scala.reflect.ClassTag

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.state.{HDFSBackedStateStoreProvider, KeyStateEncoderSpec, StateStore, StateStoreConf, StateStoreOps, StateStoreRDD}
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType

/**
 * Runs a function over each partition of some rows and its state store, as Spark's
 * `mapPartitionsWithStateStore` does. A store that Spark would keep in memory with its own provider is
 * one of another provider, which must write the same files: the session and the checkpoint still name
 * Spark's.
 *
 * @param provider the class of the other provider
 */
final class OwnStateStores(session: classic.SparkSession, provider: Option[Class[_]]) {
  import OwnStateStores._

  def mapPartitions[T: ClassTag, U: ClassTag](
      rows: RDD[T],
      state: StatefulOperatorStateInfo,
      key: StructType,
      value: StructType,
      encoder: KeyStateEncoderSpec)(
      work: (StateStore, Iterator[T]) => Iterator[U]): RDD[U] =
    provider.filter(_ => isReplaced(session.sessionState.conf)) match {
      case None =>
        rows.mapPartitionsWithStateStore(session.sqlContext, state, key, value, encoder)(work)
      case Some(its) =>
        val clean = rows.sparkContext.clean(work)
        new Own(
          session,
          new Settings(session.sessionState.conf, its),
          rows,
          state,
          key,
          value,
          encoder)((store, in) => {
          TaskContext.get().addTaskCompletionListener[Unit] { _ =>
            if (!store.hasCommitted) store.abort()
          }
          clean(store, in)
        })
    }
}

object OwnStateStores {

  /** Whether rows of a store stay as they are: it has Spark's in-memory provider or another in its place. */
  def keepsRows(store: StateStore): Boolean =
    store.isInstanceOf[HDFSBackedStateStoreProvider#HDFSBackedStateStore]

  /** Checksums of rows are in the files, and in Spark's map. */
  private val checksums = "spark.sql.streaming.stateStore.rowChecksum.enabled"

  private def isReplaced(conf: SQLConf): Boolean =
    conf.stateStoreProviderClass == classOf[HDFSBackedStateStoreProvider].getName &&
      !conf.getConfString(checksums, "false").toBoolean

  /**
   * Of older versions Spark's provider would keep memory that is in use no more. A snapshot is of a
   * version that is kept; the next micro-batch may be there before it is begun.
   */
  final private class Settings(conf: SQLConf, provider: Class[_]) extends StateStoreConf(conf) {
    override val providerClass: String = provider.getName
    override val maxVersionsToRetainInMemory: Int =
      math.min(2, conf.getConf(SQLConf.MAX_BATCHES_TO_RETAIN_IN_MEMORY))
  }

  final private class Own[T: ClassTag, U: ClassTag](
      @transient session: classic.SparkSession,
      override protected val storeConf: StateStoreConf,
      @transient rows: RDD[T],
      state: StatefulOperatorStateInfo,
      key: StructType,
      value: StructType,
      encoder: KeyStateEncoderSpec)(
      work: (StateStore, Iterator[T]) => Iterator[U])
    extends StateStoreRDD[T, U](
      rows,
      work,
      state.checkpointLocation,
      state.queryRunId,
      state.operatorId,
      state.storeVersion,
      state.stateStoreCkptIds,
      None,
      key,
      value,
      encoder,
      session.sessionState,
      Some(session.streams.stateStoreCoordinator)
    )
}
