package org.apache.spark.sql.firesteel

import java.lang.ref.WeakReference
import java.util.WeakHashMap

import scala.reflect.ClassTag

import org.apache.spark.{Partition, TaskContext}
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.classic
import org.apache.spark.sql.execution.streaming.state.{HDFSBackedStateStoreProvider, KeyStateEncoderSpec, StateStore, StateStoreConf, StateStoreCoordinatorRef, StateStoreId, StateStoreOps, StateStoreProviderId, StateStoreRDD}
import org.apache.spark.sql.firesteel.streaming.StatefulOperatorStateInfo
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

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
        new StoreRows(
          rows,
          new Settings(session.sessionState.conf, its),
          ofMicroBatch(session, state.storeVersion),
          state,
          key,
          value,
          encoder,
          session.streams.stateStoreCoordinator
        )(work)
    }
}

object OwnStateStores {

  /** Whether rows of a store stay as they are: it has Spark's in-memory provider or another in its place. */
  def keepsRows(store: StateStore): Boolean =
    store.isInstanceOf[HDFSBackedStateStoreProvider#HDFSBackedStateStore]

  /** Whether the rows come from operators that have stores. */
  def areOfStores(rows: RDD[_]): Boolean = rows match {
    case _: StateStoreRDD[_, _] | _: StoreRows[_, _] => true
    case _ => false
  }

  /** Checksums of rows are in the files, and in Spark's map. */
  private val checksums = "spark.sql.streaming.stateStore.rowChecksum.enabled"

  /** A store leaves memory after each commit (Spark 4.1). */
  private val unloaded = "spark.sql.streaming.stateStore.unloadOnCommit"

  private def isReplaced(conf: SQLConf): Boolean =
    conf.stateStoreProviderClass == classOf[HDFSBackedStateStoreProvider].getName &&
      !Seq(checksums, unloaded).exists(conf.getConfString(_, "false").toBoolean)

  /** For each running query the version of its last micro-batch, and Hadoop's settings in it. */
  private val broadcasts =
    new WeakHashMap[
      classic.SparkSession,
      (Long, WeakReference[Broadcast[SerializableConfiguration]])]

  /** Hadoop's settings, sent once for all stores of a micro-batch, as they are large. */
  private def ofMicroBatch(
      session: classic.SparkSession,
      version: Long): Broadcast[SerializableConfiguration] = broadcasts.synchronized {
    def last = Option(broadcasts.get(session)).filter(_._1 == version)
    last.flatMap { case (_, sent) => Option(sent.get) }.getOrElse {
      val now = new SerializableConfiguration(session.sessionState.newHadoopConf())
      val sent = session.sparkContext.broadcast(now)
      broadcasts.put(session, (version, new WeakReference(sent)))
      sent
    }
  }

  /**
   * Of older versions Spark's provider would keep memory that is in use no more. A snapshot is of a
   * version that is kept; the next micro-batch may be there before it is begun.
   */
  final private class Settings(conf: SQLConf, provider: Class[_]) extends StateStoreConf(conf) {
    override val providerClass: String = provider.getName
    override val maxVersionsToRetainInMemory: Int =
      math.min(2, conf.getConf(SQLConf.MAX_BATCHES_TO_RETAIN_IN_MEMORY))
  }

  /**
   * As Spark's `StateStoreRDD`, which has a broadcast of its own, and is given a function that Spark
   * has serialized once to look into it.
   */
  final private class StoreRows[T: ClassTag, U: ClassTag](
      rows: RDD[T],
      conf: StateStoreConf,
      hadoopConf: Broadcast[SerializableConfiguration],
      state: StatefulOperatorStateInfo,
      key: StructType,
      value: StructType,
      encoder: KeyStateEncoderSpec,
      @transient coordinator: StateStoreCoordinatorRef)(
      work: (StateStore, Iterator[T]) => Iterator[U])
    extends RDD[U](rows) {

    override protected def getPartitions: Array[Partition] = firstParent[T].partitions

    private def id(partition: Partition) = StateStoreProviderId(
      StateStoreId(state.checkpointLocation, state.operatorId, partition.index),
      state.queryRunId)

    /** The executor that has the store in memory. */
    override def getPreferredLocations(partition: Partition): Seq[String] =
      coordinator.getLocation(id(partition)).toSeq

    override def compute(partition: Partition, context: TaskContext): Iterator[U] = {
      // First: it may fail, and would leave a store open.
      val in = firstParent[T].iterator(partition, context)
      val store = StateStore.get(
        id(partition),
        key,
        value,
        encoder,
        state.storeVersion,
        state.stateStoreCkptIds.map(_(partition.index).head),
        None,
        useColumnFamilies = false,
        conf,
        hadoopConf.value.value
      )
      val _ = context.addTaskCompletionListener[Unit] { _ =>
        if (!store.hasCommitted) store.abort()
      }
      work(store, in)
    }
  }
}
