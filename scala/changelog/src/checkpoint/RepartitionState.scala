package io.firesteel.changelog.checkpoint

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.state.{OperatorRecord, RecordFile}
import org.apache.spark.SPARK_VERSION
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.{OperatorStateMetadata, OperatorStateMetadataV1, StateSchemaCompatibilityChecker, StateStore, StateStoreConf, StateStoreId, StateStoreProviderId}
import org.apache.spark.sql.firesteel.{hasEmptyStores, Checkpoints}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/**
 * The result of a repartitioning.
 *
 * @param batch the last finished micro-batch
 * @param before the previous number of partitions
 */
final case class Repartitioned(batch: Long, before: Int, partitions: Int)

/**
 * Changes the number of partitions of a stopped query's state.
 *
 * Spark's own repartitioning (4.2 and later, `StreamingCheckpointManager`) accepts only Spark's
 * operators, by name, and only RocksDB. As there, a repartitioning is a micro-batch without data:
 * an entry of the offset log has the new number of partitions, and the query continues with it.
 * Here the entry is written after the new state is complete, in its own folder. The entry decides:
 *
 *  - killed before it, the query starts unchanged, and the next call removes the folder,
 *  - a query that runs at the same time has written an entry of that number, or fails when it
 *    writes one,
 *  - killed after it, [[FinishRepartition]] completes it, when the query starts or this is called
 *    again.
 */
object RepartitionState {

  def apply(session: SparkSession, location: String, partitions: Int): Repartitioned = {
    if (partitions < 1) throw CheckpointErrors.badNumber(partitions)
    val checkpoint = new Checkpoint(session, location)
    if (!checkpoint.exists) throw CheckpointErrors.noCheckpoint(checkpoint.root.toString)
    requireStopped(checkpoint)
    if (EditedState.isIn(checkpoint)) {
      throw CheckpointErrors.editBegun
    }
    FinishRepartition(checkpoint)
    val batch = lastWhole(checkpoint)
    val offset = checkpoint.offset(batch).getOrElse(
      throw CheckpointErrors.noEntry(checkpoint.root.toString, batch))
    val before = offset.partitions.filter(_ => offset.isStrict).getOrElse(
      throw CheckpointErrors.tooOld(checkpoint.root.toString, batch))
    if (before == partitions) {
      checkpoint.begun.foreach(SparksRepartition.withdraw(checkpoint, _))
      Repartitioned(batch, numberBefore(checkpoint, batch, offset).getOrElse(before), partitions)
    } else {
      new RepartitionState(checkpoint, batch, offset, before, partitions).run()
      Repartitioned(batch + 1, before, partitions)
    }
  }

  /** For a micro-batch that is a repartitioning, so that a second call returns the same result. */
  private def numberBefore(checkpoint: Checkpoint, batch: Long, entry: OffsetEntry): Option[Int] =
    if (entry.note.isEmpty) None else checkpoint.offset(batch - 1).flatMap(_.partitions)

  /** The last finished micro-batch; an unfinished one must be a repartitioning of Spark's. */
  private def lastWhole(checkpoint: Checkpoint): Long = {
    val root = checkpoint.root.toString
    val batch = checkpoint.commits.last.getOrElse(
      throw checkpoint.begun.fold(CheckpointErrors.noState(root))(
        CheckpointErrors.unfinishedBatch(root, _)))
    checkpoint.begun.foreach { begun =>
      if (!SparksRepartition.has(checkpoint, begun)) {
        throw CheckpointErrors.unfinishedBatch(checkpoint.root.toString, begun)
      }
      SparksRepartition.unskip(checkpoint, begun).foreach { skipped =>
        throw CheckpointErrors.unfinishedBatch(checkpoint.root.toString, skipped)
      }
    }
    batch
  }

  private def requireStopped(checkpoint: Checkpoint): Unit =
    checkpoint.queryId.filter(Checkpoints.runningQueries(checkpoint.session)).foreach { id =>
      throw CheckpointErrors.stillRuns(checkpoint.root.toString, id.toString)
    }
}

final private class RepartitionState(
    checkpoint: Checkpoint,
    batch: Long,
    offset: OffsetEntry,
    before: Int,
    after: Int) {

  private val commit: CommitEntry = checkpoint.commit(batch).getOrElse(
    throw CheckpointErrors.noEntry(checkpoint.root.toString, batch))

  private val next = batch + 1

  def run(): Unit = {
    val stores = checkpoint.operators(batch).map(storeOf)
    val name = StagedState.nameFor(next)
    val staged = new StagedState(checkpoint, name)
    try {
      val note = RepartitionNote(name, split(stores, staged))
      RepartitionState.requireStopped(checkpoint)
      checkpoint.begun.filter(SparksRepartition.has(checkpoint, _)).foreach {
        SparksRepartition.withdraw(checkpoint, _)
      }
      decide(offset.repartitioned(after, note))
    } catch {
      // The entry may have been written in spite of the error: then its folder is needed.
      case e: Throwable if !checkpoint.offset(next).exists(_.note.exists(_.staged == name)) =>
        staged.remove()
        throw e
    }
    FinishRepartition(checkpoint)
  }

  private def decide(entry: OffsetEntry): Unit =
    if (!checkpoint.offsets.add(next, entry.text)) {
      throw CheckpointErrors.meanwhile(checkpoint.root.toString, next)
    }

  /** All refusals come before the first write. */
  private def storeOf(operator: OperatorStateMetadata): StoredState = {
    val (id, name) = (operator.operatorInfo.operatorId, operator.operatorInfo.operatorName)
    def unknown = CheckpointErrors.unknownOperator(checkpoint.root.toString, s"$name (number $id)")
    val only = operator match {
      case first: OperatorStateMetadataV1 if first.stateStoreInfo.length == 1 =>
        first.stateStoreInfo.head
      case _ => throw unknown
    }
    val schema = schemaOf(id, only.storeName) match {
      case Seq(one) => one
      case _ => throw unknown
    }
    StoredState(
      checkpoint.state.toString,
      id,
      name,
      only.storeName,
      homesOf(id, name, schema.keySchema).getOrElse(throw unknown),
      schema.valueSchema,
      only.numColsPrefixKey,
      conf,
      hadoop
    )
  }

  private def homesOf(operator: Long, name: String, key: StructType): Option[StateHomes] =
    new RecordFile(checkpoint.state.toString, operator, checkpoint.hadoop).read()
      .map(OperatorRecord.read) match {
      case Some(Right(record)) => Some(StateHomes.of(record, key))
      case Some(Left(later)) =>
        throw ChangelogErrors.laterRecord(s"$name (number $operator)", later)
      case None => StateHomes.of(name, key)
    }

  private def schemaOf(operator: Long, store: String) = {
    val id = StateStoreId(
      checkpoint.state.toString,
      operator,
      StateStore.PARTITION_ID_TO_CHECK_SCHEMA,
      store)
    new StateSchemaCompatibilityChecker(
      StateStoreProviderId(id, java.util.UUID.randomUUID()),
      checkpoint.hadoop).readSchemaFile()
  }

  /** The checkpoint has the format of the stores' versions. */
  private lazy val conf: StateStoreConf = {
    val made = Checkpoints.storeConf(
      checkpoint.session,
      offset.metadata,
      Map(SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> (if (commit.hasIds) "2" else "1")))
    if (!Seq(StoredState.hdfs, StoredState.rocksDb).contains(made.providerClass)) {
      throw CheckpointErrors.unknownProvider(checkpoint.root.toString, made.providerClass)
    }
    if (made.providerClass == StoredState.rocksDb && !hasEmptyStores) {
      throw CheckpointErrors.oldSpark(checkpoint.root.toString, SPARK_VERSION)
    }
    made
  }

  private lazy val hadoop =
    checkpoint.session.sparkContext.broadcast(new SerializableConfiguration(checkpoint.hadoop))

  /** Writes the new state; returns the micro-batch's entry in the commit log. */
  private def split(stores: Seq[StoredState], staged: StagedState): CommitEntry = {
    val made = stores.map { store =>
      val ids = if (commit.hasIds) Some(commit.idsOf(store.operator).map(_.head)) else None
      store.operator -> staged.split(store, next, ids, before, after)
    }
    if (commit.hasIds) commit.withIds(made.map { case (operator, ids) =>
      operator -> ids.map(_.toSeq)
    }.toMap)
    else commit
  }
}
