package io.firesteel.changelog.state

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.core.changes.RowKind
import io.firesteel.core.decide.FiredOperator

import java.util.concurrent.TimeUnit.NANOSECONDS

import org.apache.hadoop.conf.Configuration
import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.{Distribution, UnspecifiedDistribution}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.streaming.state.{OperatorInfoV1, OperatorStateMetadata, OperatorStateMetadataV1, StateSchemaCompatibilityChecker, StateSchemaValidationResult, StateStore, StateStoreColFamilySchema, StateStoreId, StateStoreMetadataV1, StateStoreOps}
import org.apache.spark.sql.firesteel.renamedProgress
import org.apache.spark.sql.firesteel.streaming.{StatefulOperatorCustomMetric, StatefulOperatorCustomSumMetric, StatefulOperatorPartitioning, StatefulOperatorStateInfo, StateStoreWriter}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StateOperatorProgress

/**
 * A stateful operator of a changelog with any number of inputs.
 *
 * Its [[StatefulTask]] does the work in one partition; this trait has everything that all operators
 * share. Each partition emits the net changes of a micro-batch and commits its store once, after
 * its last row was read. Exactly once, as in Spark's own operators: a repeated micro-batch starts
 * from the same version of the store.
 */
private[changelog] trait StatefulChangelogExec extends StateStoreWriter with FiredOperator {

  def contract: ChangelogContract

  /** How the rows of each input reach the partitions of the state. */
  def distributions: Seq[InputDistribution]

  def layout: StateLayout

  /** The work in one partition of the state; created on the driver. */
  protected def task(): StatefulTask

  def withState(info: Option[StatefulOperatorStateInfo], inputs: Seq[SparkPlan]): SparkPlan

  /** Name of the strategy that planned the operator. */
  def plannedBy: String

  /** Texts that the operator's line in a plan shows, in this order. */
  protected def shown: Seq[String]

  /** Whether the operator emits rows when the watermark closes state, even if no row arrives. */
  protected def emitsAtClose: Boolean = false

  override def output: Seq[Attribute]

  override def nodeName: String =
    shortName.capitalize + stateInfo.fold("")(info => s" ${info.operatorId}")

  /** With the operator's number, as in plans: a query may have several operators of one kind. */
  override def getProgress(): StateOperatorProgress =
    renamedProgress(super.getProgress(), s"$shortName ${getStateInfo.operatorId}")

  final override def argString(maxFields: Int): String = {
    val kept = contract.ttl.map(its => s"ttl=${its.text}")
    val closed = contract.eventTimes.flatten.distinct.map(time => s"eventTime=${time.name}")
    ((shown :+ s"changelogMode=$contract") ++ closed ++ kept).mkString(", ")
  }

  /** The state as `explain` shows it: key, value and time to live. */
  protected def stateText: String = {
    val kept = contract.ttl.fold("")(its => s"; kept for ${its.text} after it was last written")
    val closed = closedText.fold("")(text => s"; $text")
    s"key ${layout.key.toDDL}; value ${layout.value.toDDL}$kept$closed"
  }

  /** When the watermark takes entries out of state, in words; none if it never does. */
  protected def closedText: Option[String] = {
    val times = contract.eventTimes.flatten.distinct
    Option.when(times.nonEmpty)(
      s"until the watermark has passed ${times.map(_.name).mkString(", ")}")
  }

  private def stored: StateLayout = if (contract.ttl.isEmpty) layout else layout.expiring

  override def customStatefulOperatorMetrics: Seq[StatefulOperatorCustomMetric] = Seq(
    StatefulOperatorCustomSumMetric(expiredMetric, "number of expired state rows"),
    StatefulOperatorCustomSumMetric(lateMetric, "number of ignored late retractions")
  ) ++ RowKind.names.zip(StatefulChangelogExec.kindMetrics).map { case (kind, metric) =>
    StatefulOperatorCustomSumMetric(metric, s"number of $kind rows emitted")
  }

  private def expiredMetric = "numExpiredStateRows"
  private def lateMetric = "numLateRetractions"

  /** Called on the operator of the previous micro-batch; after a restart, on this one. */
  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] = {
    contract.watermark.advance(inputWatermarkMs)
    super.produceOutputWatermark(inputWatermarkMs)
  }

  override def shouldRunAnotherBatch(newInputWatermark: Long): Boolean =
    emitsAtClose && contract.eventTimes.exists(_.isDefined) &&
      newInputWatermark > contract.watermark.usedMs

  /** For each input the groups that a watermark has closed. */
  private def closedGroups(ms: Long): Seq[Option[ClosedGroups]] =
    children.zip(distributions).zip(contract.eventTimes).map { case ((input, spread), eventTime) =>
      for (time <- eventTime if ms > 0)
        yield ClosedGroups(
          StatefulChangelogExec.keysOf(spread).indexWhere(_.exprId == time.exprId),
          input.output.indexWhere(_.exprId == time.exprId),
          time.dataType,
          contract.watermark.after,
          ms
        )
    }

  override def firedRule: String = plannedBy

  /** Without it, adaptive execution skips this plan: a stateful query must not be planned again. */
  override def logicalLink: Option[LogicalPlan] = None

  /** Takes the state information from a [[StateProbe]] below the first input. */
  final protected def withProbed(newInputs: Seq[SparkPlan]): SparkPlan = {
    val told = newInputs.collectFirst { case StateProbe(info, _) => info }
    told.fold(withState(stateInfo, newInputs)) { info =>
      val inputs = newInputs.zip(distributions).map { case (input, spread) =>
        val rows = input match {
          case StateProbe(_, child) => child
          case other => other
        }
        val once = ReadOnceExec.in(info, rows)
        val read =
          if (contract.eventTimes.forall(_.isEmpty)) once
          else OwnSourceExec.below(info.operatorId, once)
        if (spread == InputDistribution.Replicated) {
          ReplicateRowsExec.everywhere(read, info.numPartitions)
        } else read
      }
      withState(Some(info), inputs)
    }
  }

  override def requiredChildDistribution: Seq[Distribution] = distributions.map { spread =>
    (spread, stateInfo) match {
      case (InputDistribution.Clustered(keys), Some(info)) =>
        StatefulOperatorPartitioning.getCompatibleDistribution(keys, info, conf)
      case _ => UnspecifiedDistribution
    }
  }

  override def validateAndMaybeEvolveStateSchema(
      hadoopConf: Configuration,
      batchId: Long,
      stateSchemaVersion: Int): List[StateSchemaValidationResult] = {
    val kept = new KeptState(getStateInfo, nodeName, hadoopConf)
    // First: the layout depends on it.
    contract.keptCalls.recorded = kept.calls
    contract.keptCalls.columns = kept.columns
    contract.keptCalls.keys = kept.keys
    val record = this.record
    kept.requireLayout(stored, if (contract.ttl.isEmpty) layout.expiring else layout, record)
    kept.requireQuery(record, batchId)
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

  /** Records how keys are encoded, so that `format("statestore")` can read them. */
  override def operatorStateMetadata(schemaPaths: List[List[String]]): OperatorStateMetadata = {
    val state = getStateInfo
    OperatorStateMetadataV1(
      OperatorInfoV1(state.operatorId, shortName),
      Array(
        StateStoreMetadataV1(StateStoreId.DEFAULT_STORE_NAME, layout.prefix, state.numPartitions)))
  }

  /** The record of this operator in the checkpoint. */
  private def record: OperatorRecord = OperatorRecord(
    shortName,
    StatefulChangelogExec.hashed(distributions).fold(Seq.empty[String]) { keys =>
      layout.key.fieldNames.toSeq.take(keys.size)
    },
    layout.tables.map(_.name),
    layout.tables.filter(_.replicated).map(_.name),
    Seq(member)
  )

  /** The part of the query that this operator runs, with the state's columns of its calls. */
  protected def member: MemberRecord = contract.member

  override protected def doExecute(): RDD[InternalRow] = {
    metrics // created on the driver: tasks must not create them
    if (emitsAtClose && !conf.getConf(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE)) {
      throw ChangelogErrors.unsupportedOperator(
        nodeName,
        s"${SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE.key} is false, so no watermark reaches it",
        "leave that setting on")
    }
    val (layout, stored, task) = (this.layout, this.stored, this.task())
    contract.watermark.use()
    val (name, closed) = (nodeName, closedGroups(contract.watermark.ms))
    val tooLate = closedGroups(contract.watermark.lateMs)
    val life = contract.ttl.map { its =>
      (if (its.ofTables.isEmpty) Lifetimes.One(its.ms) else layout.lifetimes(its.ofTables)) ->
        its.nowMs
    }
    val late = longMetric("numRowsDroppedByWatermark")
    val counts = StateCounts(
      longMetric("numUpdatedStateRows"),
      longMetric("numRemovedStateRows"),
      longMetric(expiredMetric),
      longMetric(lateMetric))
    StatefulChangelogExec.together(children.map(_.execute())).mapPartitionsWithStateStore(
      session.sqlContext,
      getStateInfo,
      stored.key,
      stored.value,
      stored.encoder) { (store, inputs) =>
      val entries = life.fold(new StateEntries(store, counts)) { case (lifetimes, nowMs) =>
        new ExpiringEntries(store, counts, layout.value, lifetimes, nowMs, name)
      }
      val inTime = inputs.next().zip(tooLate).map { case (rows, its) =>
        its.fold(rows)(_.inTime(rows, late))
      }
      val changes = task.run(entries, store.id.partitionId, inTime)
      // Inputs whose event time is the same key column share the closed groups.
      val evicted = closed.flatten.distinctBy(_.keyAt).iterator.flatMap(task.close(entries, _))
      commitAtEnd(store, entries, changes ++ evicted)
    }
  }

  private def commitAtEnd(
      store: StateStore,
      entries: StateEntries,
      rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val numOutputRows = longMetric("numOutputRows")
    val kinds = StatefulChangelogExec.kindMetrics.map(longMetric).toArray
    val kindAt = contract.kindOut.fold(-1)(kind => output.indexWhere(_.exprId == kind.exprId))
    val (updating, committing) = (longMetric("allUpdatesTimeMs"), longMetric("commitTimeMs"))
    val out = new Iterator[InternalRow] {
      private[this] var committed = false
      private[this] var nanos = 0L

      override def hasNext: Boolean = {
        val start = System.nanoTime()
        val more = rows.hasNext
        nanos += System.nanoTime() - start
        if (!more && !committed) {
          committed = true
          entries.evict()
          updating += NANOSECONDS.toMillis(nanos)
          committing += timeTakenMs { val _ = store.commit() }
          setStoreMetrics(store)
          setOperatorMetrics()
        }
        more
      }

      override def next(): InternalRow = {
        numOutputRows += 1
        val row = rows.next()
        if (kindAt >= 0) kinds(row.getByte(kindAt)) += 1
        row
      }
    }
    // A join above it may leave rows unread, such as one whose other side is empty.
    TaskContext.get().addTaskCompletionListener[Unit] { task =>
      if (!task.isFailed() && !task.isInterrupted()) out.foreach(_ => ())
    }
    out
  }
}

/** An operator with one input, clustered by some of its columns. */
private[changelog] trait UnaryChangelogExec extends UnaryExecNode with StatefulChangelogExec {

  /** Columns by whose hash rows are distributed over the partitions of the state. */
  def clusteredBy: Seq[Attribute]

  final override def distributions: Seq[InputDistribution] =
    Seq(InputDistribution.Clustered(clusteredBy))

  override protected def withNewChildInternal(newChild: SparkPlan): SparkPlan =
    withProbed(Seq(newChild))
}

/** An operator with any number of inputs. */
private[changelog] trait NaryChangelogExec extends StatefulChangelogExec {
  override protected def withNewChildrenInternal(newChildren: IndexedSeq[SparkPlan]): SparkPlan =
    withProbed(newChildren)
}

private[state] object StatefulChangelogExec {

  /** Metrics of the rows emitted, by the number of their kind. */
  private val kindMetrics: Seq[String] =
    Seq("numInsertRows", "numUpdateBeforeRows", "numUpdateAfterRows", "numDeleteRows")

  private def keysOf(spread: InputDistribution): Seq[Attribute] = spread match {
    case InputDistribution.Clustered(keys) => keys
    case InputDistribution.Replicated => Nil
  }

  /** The columns by whose hash the state is distributed; none if each partition has all of it. */
  private def hashed(distributions: Seq[InputDistribution]): Option[Seq[Attribute]] =
    distributions.collectFirst { case InputDistribution.Clustered(keys) => keys }

  /** For each partition the unread rows of all inputs. */
  private def together(inputs: Seq[RDD[InternalRow]]): RDD[Seq[Iterator[InternalRow]]] = {
    val first = inputs.head.mapPartitions(rows => Iterator.single(Seq(rows)))
    inputs.tail.foldLeft(first) { (before, input) =>
      before.zipPartitions(input)((all, rows) => Iterator.single(all.next() :+ rows))
    }
  }
}
