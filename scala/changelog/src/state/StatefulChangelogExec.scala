package io.firesteel.changelog.state

import io.firesteel.changelog.common.{ChangelogConf, ChangelogErrors}
import io.firesteel.changelog.state.inputs.{OwnSourceExec, ReadOnceExec, ReplicateRowsExec, StateProbe, UnevenPartitions}
import io.firesteel.changelog.store.PagedStateStoreProvider
import io.firesteel.core.changes.RowKind

import java.lang.{Long => JLong}
import java.util.{HashMap => JHashMap}

import org.apache.hadoop.conf.Configuration
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.{Distribution, Partitioning, PartitioningCollection, UnknownPartitioning, UnspecifiedDistribution}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.exchange.Exchange
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.execution.streaming.state.{OperatorInfoV1, OperatorStateMetadata, OperatorStateMetadataV1, StateSchemaCompatibilityChecker, StateSchemaValidationResult, StateStore, StateStoreColFamilySchema, StateStoreId, StateStoreMetadataV1}
import org.apache.spark.sql.firesteel.{renamedProgress, OwnStateStores, PartitionRows, StoreCommit}
import org.apache.spark.sql.firesteel.streaming.{StatefulOperatorCustomMetric, StatefulOperatorCustomSumMetric, StatefulOperatorPartitioning, StateStoreWriter}
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
private[changelog] trait StatefulChangelogExec extends StateStoreWriter with StoreMember {

  def layout: StateLayout

  /** The work in one partition of the state; created on the driver. */
  protected def task(): StatefulTask

  /** Name of the strategy that planned the operator. */
  def plannedBy: String

  /** Texts that the operator's line in a plan shows, in this order. */
  protected def shown: Seq[String]

  override def output: Seq[Attribute]

  override def nodeName: String =
    shortName.capitalize + stateInfo.fold("")(info => s" ${info.operatorId}")

  @transient private var partitions: Option[UnevenPartitions] = None

  /** The keys of an operator that is distributed by some of them, of which few may have most rows. */
  private def partialKeys: Option[UnevenPartitions.Keys] = sharers.flatMap { its =>
    val by = its.contract.placement.by
    StatefulChangelogExec.hashed(its.distributions).filter(by.nonEmpty && by.size < _.size)
      .map(_.map(_.name)).map(all => UnevenPartitions.Keys(all, its.contract.placement.of(all)))
  }.headOption

  private def warnIfUneven(): Unit =
    for (rows <- partitions; keys <- partialKeys)
      rows.warning(nodeName, getStateInfo.checkpointLocation, keys).foreach(logWarning(_))

  /** With the operator's number, as in plans: a query may have several operators of one kind. */
  override def getProgress(): StateOperatorProgress = {
    warnIfUneven()
    def ofGuests(metric: String) = guests.flatMap(_.metrics.get(metric)).map(_.value).sum
    val own = super.getProgress()
    val custom = new JHashMap[String, JLong](own.customMetrics)
    (Seq(expiredMetric, lateMetric) ++ guests.flatMap(_.operator.ownCounts)).distinct.foreach {
      name =>
        val _ = custom.merge(name, ofGuests(name), (a, b) => a + b)
    }
    renamedProgress(
      own,
      s"$shortName ${getStateInfo.operatorId}",
      ofGuests("numUpdatedStateRows"),
      ofGuests("numRemovedStateRows"),
      ofGuests("numRowsDroppedByWatermark"),
      custom
    )
  }

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

  private[state] def stored: StateLayout = if (contract.ttl.isEmpty) layout else layout.expiring

  private[state] def otherwise: StateLayout = if (contract.ttl.isEmpty) layout.expiring else layout

  /** The operators whose state is in this operator's store, in the order of their numbers. */
  private def guests: Seq[GuestExec] =
    if (!contract.placement.choices.sharesStores) Nil
    else children.flatMap(GuestExec.below).sortBy(_.member)

  private def sharers: Seq[StoreMember] = this +: guests.map(_.operator)

  /** The layout of a store with guests. */
  private def shared: SharedLayout = SharedLayout(sharers.map(_.stored))

  override def customStatefulOperatorMetrics: Seq[StatefulOperatorCustomMetric] = Seq(
    StatefulOperatorCustomSumMetric(expiredMetric, "number of expired state rows"),
    StatefulOperatorCustomSumMetric(lateMetric, "number of ignored late retractions")
  ) ++ RowKind.names.zip(StatefulChangelogExec.kindMetrics).map { case (kind, metric) =>
    StatefulOperatorCustomSumMetric(metric, s"number of $kind rows emitted")
  }

  private def expiredMetric = "numExpiredStateRows"
  private def lateMetric = "numLateRetractions"

  /** The watermark that reaches each operator that shares this store; this operator's is the last. */
  private def watermarks(inputMs: Long): Seq[(StoreMember, Long)] = {
    def below(plan: SparkPlan): Seq[(StoreMember, Long)] = plan match {
      case guest: GuestExec => reaching(guest.operator, guest.children)
      case _: StoreMember | _: Exchange => Nil
      case other => other.children.flatMap(below)
    }
    def reaching(operator: StoreMember, inputs: Seq[SparkPlan]) = {
      val all = inputs.map(below)
      val ms = all.flatMap(_.lastOption).map { case (it, reached) => it.heldBack(reached) }
      all.flatten :+ (operator -> ms.foldLeft(inputMs)(_ min _))
    }
    reaching(this, children)
  }

  /** Called on the operator of the previous micro-batch; after a restart, on this one. */
  override def produceOutputWatermark(inputWatermarkMs: Long): Option[Long] = {
    val all = watermarks(inputWatermarkMs)
    all.foreach { case (operator, ms) => operator.contract.watermark.advance(ms) }
    super.produceOutputWatermark(inputWatermarkMs).map(_ => heldBack(all.last._2))
  }

  override def shouldRunAnotherBatch(newInputWatermark: Long): Boolean =
    watermarks(newInputWatermark).exists { case (operator, ms) =>
      operator.emitsAtClose && operator.contract.eventTimes.exists(_.isDefined) &&
      operator.contract.watermark.wouldClose(ms)
    }

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
      val host = GuestExec.Host(info, s"${shortName.capitalize} ${info.operatorId}")
      val hosted = newInputs.map(StateProbe.without).map(GuestExec.hosted(host, _))
      val sharing = this +: hosted.flatMap(GuestExec.below).map(_.operator)
      val hasTimes = sharing.exists(_.contract.eventTimes.exists(_.nonEmpty))
      val inputs = hosted.zip(distributions).map { case (input, spread) =>
        val once = ReadOnceExec.in(info, input)
        val read = if (hasTimes) OwnSourceExec.below(info.operatorId, once) else once
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
        val by = contract.placement.of(keys)
        StatefulOperatorPartitioning.getCompatibleDistribution(by, info, conf)
      case _ => UnspecifiedDistribution
    }
  }

  /**
   * Numbers of the inputs whose rows lie where the rows of the result lie: their keys are among its
   * columns.
   */
  protected def keepsPlacesOf: Seq[Int] = Nil

  /** Whether the result was placed as its input before queries removed shuffles. */
  protected def alwaysPlaced: Boolean = false

  /** Spark adds no shuffle above it for readers with the same keys. */
  override def outputPartitioning: Partitioning = placedAs(children)

  private[state] def placedAs(inputs: Seq[SparkPlan]): Partitioning =
    if (!contract.placement.choices.removesShuffles && !alwaysPlaced) UnknownPartitioning(0)
    else keepsPlacesOf.map(inputs(_).outputPartitioning) match {
      case Seq() => UnknownPartitioning(0)
      case Seq(one) => one
      case several => PartitioningCollection(several)
    }

  /** How the rows of the inputs reach the state, for `explain`; empty if all are shuffled. */
  protected def shuffleText: Map[String, String] = {
    val names = if (children.size == 2) Seq("left", "right") else Seq("input")
    contract.placement.text(names).map("shuffle" -> _).toMap
  }

  override def validateAndMaybeEvolveStateSchema(
      hadoopConf: Configuration,
      batchId: Long,
      stateSchemaVersion: Int): List[StateSchemaValidationResult] = {
    val kept = new KeptState(getStateInfo, nodeName, hadoopConf)
    // First: the layouts depend on it.
    val sharing = sharers
    sharing.zipWithIndex.foreach { case (operator, i) =>
      operator.contract.keptCalls.recorded = kept.calls(i)
      operator.contract.keptCalls.columns = kept.columns(i, isShared = sharing.size > 1)
      operator.contract.keptCalls.keys = kept.keys(i, isShared = sharing.size > 1)
    }
    val record = this.record
    val now = wholeLayout
    kept.requireLayout(
      now,
      if (sharing.size == 1) otherwise else SharedLayout(sharing.map(_.otherwise)).whole,
      record)
    kept.requireQuery(record, batchId)
    val schema = StateStoreColFamilySchema(
      StateStore.DEFAULT_COL_FAMILY_NAME,
      0,
      now.key,
      0,
      now.value,
      Some(now.encoder))
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
        StateStoreMetadataV1(
          StateStoreId.DEFAULT_STORE_NAME,
          wholeLayout.prefix,
          state.numPartitions)))
  }

  /** The layout of this operator's store. */
  private def wholeLayout: StateLayout = if (guests.isEmpty) stored else shared.whole

  /** The record of this operator in the checkpoint. */
  private def record: OperatorRecord = {
    val sharing = sharers

    /** The columns of the store's key by whose hash the entries of an operator are distributed. */
    def distribution(member: Int): Seq[String] = {
      val its = sharing(member)
      StatefulChangelogExec.hashed(its.distributions).fold(Seq.empty[String]) { keys =>
        val names =
          if (sharing.size == 1)
            layout.key.fieldNames.toSeq.slice(layout.keysAt, layout.keysAt + keys.size)
          else shared.keyNames(member, keys.size)
        its.contract.placement.of(names)
      }
    }
    OperatorRecord(
      shortName,
      distribution(0),
      if (sharing.size == 1) layout.tables.map(_.name) else Nil,
      if (sharing.size == 1) layout.tables.filter(_.replicated).map(_.name) else Nil,
      sharing.zipWithIndex.map { case (its, i) =>
        if (i == 0) its.member else its.member.copy(distribution = distribution(i))
      },
      contract.placement.choices,
      contract.placement.version
    )
  }

  override protected def doExecute(): RDD[InternalRow] = {
    if (sharers.exists(_.emitsAtClose) && !conf.getConf(SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE)) {
      throw ChangelogErrors.unsupportedOperator(
        nodeName,
        s"${SQLConf.STATEFUL_OPERATOR_ALLOW_MULTIPLE.key} is false, so no watermark reaches it",
        "leave that setting on")
    }
    requireSharers()
    val (work, commit) = (this.work(), new StoreCommit(this))
    val sharing = if (guests.isEmpty) None else Some(shared)
    val (stored, id) = (wholeLayout, getStateInfo.operatorId)
    partitions = partialKeys.map(_ => UnevenPartitions.in(sparkContext))
    val counts = partitions
    val inputs = PartitionRows.together(children.map(_.execute()))
    val stores = new OwnStateStores(
      session,
      Option.when(conf.getConf(ChangelogConf.PAGED_STATE))(classOf[PagedStateStoreProvider]))
    stores.mapPartitions(inputs, getStateInfo, stored.key, stored.value, stored.encoder) {
      (store, inputs) =>
        val unread = new UnreadRows
        val others = sharing.map(SharedStore.opened(id, store, unread, _))
        val own = others.fold(KeyedStore.of(store, unread))(_.member(0))
        val (entries, changes) = work.run(own, store.id.partitionId, inputs.next())
        val emitted = work.emitted(changes, unread) { nanos =>
          others.foreach(_.finish())
          entries.evict()
          others.foreach(_.sweep())
          commit(store, nanos)
          counts.foreach(_.count(store.id.partitionId, store.metrics.numKeys))
        }
        unread.are(emitted)
        emitted
    }
  }

  /**
   * The operators that share the store are the same in each micro-batch of a running query, or its
   * layout would change. Spark drops an operator whose rows it knows to be none.
   */
  private def requireSharers(): Unit = {
    val (now, kept) = (guests.map(_.member), contract.keptCalls)
    kept.guests match {
      case None => kept.guests = Some(now)
      case Some(before) if before != now =>
        throw ChangelogErrors.unsupportedOperator(
          nodeName,
          s"it shares its store with ${before.size} operators, and Spark has planned ${now.size} of them",
          s"start the query with a new checkpoint and ${ChangelogConf.MULTIPLE_INPUT.key} = false"
        )
      case _ => ()
    }
  }

  /**
   * Whether the watermark of the micro-batch that runs may close what it had not closed before. To
   * be asked after [[execute]].
   */
  final private[changelog] def closesNow: Boolean = contract.watermark.closes

  private[state] def work(): PartitionWork = {
    metrics // created on the driver: tasks must not create them
    val layout = this.layout
    val watermark = contract.watermark
    watermark.use(stateInfo.fold(-1L)(_.storeVersion))
    val life = contract.ttl.map { its =>
      (if (its.ofTables.isEmpty) Lifetimes.One(its.ms) else layout.lifetimes(its.ofTables)) ->
        its.nowMs
    }
    new PartitionWork(
      layout,
      life,
      nodeName,
      task(),
      // What closes is found by reading the whole store.
      if (closesNow) closedGroups(watermark.ms) else Nil,
      closedGroups(watermark.lateMs),
      StateCounts(
        longMetric("numUpdatedStateRows"),
        longMetric("numRemovedStateRows"),
        longMetric(expiredMetric),
        longMetric(lateMetric)),
      longMetric("numRowsDroppedByWatermark"),
      longMetric("numOutputRows"),
      contract.kindOut.fold(-1)(kind => output.indexWhere(_.exprId == kind.exprId)),
      StatefulChangelogExec.kindMetrics.map(longMetric).toArray
    )
  }

  private[state] def ownMetrics: Map[String, SQLMetric] = {
    val own = Seq("numOutputRows", "numUpdatedStateRows", "numRemovedStateRows", expiredMetric) ++
      Seq(lateMetric, "numRowsDroppedByWatermark") ++ StatefulChangelogExec.kindMetrics ++ ownCounts
    metrics.filter { case (name, _) => own.contains(name) }
  }
}

/** An operator with one input, clustered by some of its columns. */
private[changelog] trait UnaryChangelogExec extends UnaryExecNode with StatefulChangelogExec {

  /** Columns by whose hash rows are distributed over the partitions of the state. */
  def clusteredBy: Seq[Attribute]

  final override def distributions: Seq[InputDistribution] =
    Seq(InputDistribution.Clustered(clusteredBy))

  override protected def keepsPlacesOf: Seq[Int] = Seq(0)

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
}
