package io.firesteel.changelog.state

import io.firesteel.changelog.ChangelogErrors
import io.firesteel.core.decide.FiredOperator
import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.Distribution
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.streaming.operators.stateful.{StatefulOperatorCustomMetric, StatefulOperatorCustomSumMetric, StatefulOperatorPartitioning, StatefulOperatorStateInfo, StateStoreWriter}
import org.apache.spark.sql.execution.streaming.state.{OperatorInfoV1, OperatorStateMetadata, OperatorStateMetadataV1, StateSchemaCompatibilityChecker, StateSchemaValidationResult, StateStore, StateStoreColFamilySchema, StateStoreId, StateStoreMetadataV1, StateStoreOps, StateStoreProviderId}

/**
 * An operator of a changelog with a state store.
 *
 * Its rows of a micro-batch are folded, its net changes emitted and its store committed once per
 * partition, when its last row has been read. Exactly once, as Spark's own: a micro-batch that is
 * repeated starts from the version of the store that it started from before.
 */
private[changelog] trait StatefulChangelogExec
  extends UnaryExecNode
  with StateStoreWriter
  with FiredOperator {

  /** Columns by which rows are spread over the partitions of the state. */
  def clusteredBy: Seq[Attribute]

  def layout: StateLayout

  /** The one of these columns by which the watermark closes what is kept. */
  def eventTime: Option[Attribute]

  /** How long an entry is kept; none, for ever. */
  def ttl: Option[TimeToLive]

  /** That of the operator in all micro-batches. */
  def watermark: Watermark

  def withState(info: Option[StatefulOperatorStateInfo], child: SparkPlan): SparkPlan

  /** Turns a partition's input into its output, given its entries and its number. */
  protected def folded(): (StateEntries, Int, Iterator[InternalRow]) => Iterator[InternalRow]

  /** The state as `explain` shows it: what it has of each key, and for how long. */
  protected def stateText: String = {
    val kept = ttl.fold("")(its => s"; kept for ${its.ms} ms after it was last written")
    val closed = eventTime.fold("")(time => s"; until the watermark has passed ${time.name}")
    s"key ${layout.key.toDDL}; value ${layout.value.toDDL}$kept$closed"
  }

  private def stored: StateLayout = if (ttl.isEmpty) layout else layout.expiring

  override def customStatefulOperatorMetrics: Seq[StatefulOperatorCustomMetric] = Seq(
    StatefulOperatorCustomSumMetric(expiredMetric, "number of expired state rows"),
    StatefulOperatorCustomSumMetric(lateMetric, "number of ignored late retractions")
  )

  private def expiredMetric = "numExpiredStateRows"
  private def lateMetric = "numLateRetractions"

  /** Told to the operator of the micro-batch before, or to this one when the query has started anew. */
  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] = {
    watermark.ms = inputWatermarkMs
    super.produceOutputWatermark(inputWatermarkMs)
  }

  private def closedGroups: Option[ClosedGroups] =
    for (time <- eventTime; ms = watermark.ms if ms > 0)
      yield ClosedGroups(
        clusteredBy.indexWhere(_.exprId == time.exprId),
        child.output.indexWhere(_.exprId == time.exprId),
        time.dataType,
        ms)

  override def firedRule: String = "RewriteStreamingWrite"

  /** Adaptive execution may not plan a stateful query anew, and takes none without its link. */
  override def logicalLink: Option[LogicalPlan] = None

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan = newChild match {
    case StateProbe(info, child) => withState(Some(info), child)
    case other => withState(stateInfo, other)
  }

  override def requiredChildDistribution: Seq[Distribution] = stateInfo match {
    case Some(info) =>
      StatefulOperatorPartitioning.getCompatibleDistribution(clusteredBy, info, conf) :: Nil
    case None => super.requiredChildDistribution
  }

  override def validateAndMaybeEvolveStateSchema(
      hadoopConf: Configuration,
      batchId: Long,
      stateSchemaVersion: Int): List[StateSchemaValidationResult] = {
    requireSameLayout(hadoopConf)
    val schema = StateStoreColFamilySchema(
      StateStore.DEFAULT_COL_FAMILY_NAME,
      0,
      stored.key,
      0,
      stored.value,
      Some(stored.encoder))
    List(
      StateSchemaCompatibilityChecker.validateAndMaybeEvolveStateSchema(
        getStateInfo,
        hadoopConf,
        List(schema),
        session.sessionState,
        stateSchemaVersion))
  }

  /** Says how keys are encoded, so that `format("statestore")` can read them. */
  override def operatorStateMetadata(schemaPaths: List[List[String]]): OperatorStateMetadata = {
    val state = getStateInfo
    OperatorStateMetadataV1(
      OperatorInfoV1(state.operatorId, shortName),
      Array(
        StateStoreMetadataV1(StateStoreId.DEFAULT_STORE_NAME, layout.prefix, state.numPartitions)))
  }

  /** Spark compares types alone; a sum of the same type is another sum all the same. */
  private def requireSameLayout(hadoopConf: Configuration): Unit = {
    val store = StateStoreId(
      getStateInfo.checkpointLocation,
      getStateInfo.operatorId,
      0,
      StateStoreId.DEFAULT_STORE_NAME)
    val file = StateSchemaCompatibilityChecker.schemaFile(store.storeCheckpointLocation())
    if (exists(file, hadoopConf)) {
      val before = new StateSchemaCompatibilityChecker(
        StateStoreProviderId(store, getStateInfo.queryRunId),
        hadoopConf).readSchemaFile()
      val differences = before.flatMap(b => stored.differences(b.keySchema, b.valueSchema))
      if (differences.nonEmpty) throw ChangelogErrors.stateMismatch(nodeName, differences)
    }
  }

  private def exists(file: Path, hadoopConf: Configuration): Boolean =
    file.getFileSystem(hadoopConf).exists(file)

  override protected def doExecute(): RDD[InternalRow] = {
    metrics // made here: tasks must not make them
    val (layout, stored, run) = (this.layout, this.stored, folded())
    val (life, name, closed) = (ttl.map(its => its.ms -> its.nowMs), nodeName, closedGroups)
    val late = longMetric("numRowsDroppedByWatermark")
    val counts = StateCounts(
      longMetric("numUpdatedStateRows"),
      longMetric("numRemovedStateRows"),
      longMetric(expiredMetric),
      longMetric(lateMetric))
    child.execute().mapPartitionsWithStateStore(
      session.sqlContext,
      getStateInfo,
      stored.key,
      stored.value,
      stored.encoder) { (store, rows) =>
      val entries = life.fold(new StateEntries(store, counts)) { case (ttlMs, nowMs) =>
        new ExpiringEntries(store, counts, layout.value, ttlMs, nowMs, name)
      }
      val inTime = closed.fold(rows)(_.inTime(rows, late))
      commitAtEnd(store, entries, closed, run(entries, store.id.partitionId, inTime))
    }
  }

  private def commitAtEnd(
      store: StateStore,
      entries: StateEntries,
      closed: Option[ClosedGroups],
      rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val numOutputRows = longMetric("numOutputRows")
    val (updating, committing) = (longMetric("allUpdatesTimeMs"), longMetric("commitTimeMs"))
    new Iterator[InternalRow] {
      private[this] var committed = false
      private[this] var nanos = 0L

      override def hasNext: Boolean = {
        val start = System.nanoTime()
        val more = rows.hasNext
        nanos += System.nanoTime() - start
        if (!more && !committed) {
          committed = true
          entries.evict()
          closed.foreach(entries.close)
          updating += NANOSECONDS.toMillis(nanos)
          committing += timeTakenMs { val _ = store.commit() }
          setStoreMetrics(store)
          setOperatorMetrics()
        }
        more
      }

      override def next(): InternalRow = {
        numOutputRows += 1
        rows.next()
      }
    }
  }
}
