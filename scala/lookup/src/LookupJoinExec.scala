package io.firesteel.lookup

import java.math.BigInteger
import java.security.MessageDigest
import java.util.concurrent.atomic.AtomicBoolean

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, NamedExpression, PlanExpression, Predicate, SortOrder, UnsafeProjection, UserDefinedExpression}
import org.apache.spark.sql.catalyst.plans.{JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, Distribution, UnspecifiedDistribution}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.StructType

/**
 * Joins the rows of `child` with the answers of a JVM connector.
 *
 * @param firedRule the strategy that planned this node
 * @param compared `keyColumns` as Spark's join compares them, over `columns`
 * @param filters conditions on the answers, over `columns`
 * @param residual the rest of the join's condition, over both sides
 */
private[lookup] final case class LookupJoinExec(
    firedRule: String,
    source: LookupSource,
    leftOutput: Seq[Attribute],
    keys: Seq[Expression],
    keyColumns: Seq[Attribute],
    compared: Seq[Expression],
    columns: Seq[Attribute],
    filters: Option[Expression],
    projection: Seq[NamedExpression],
    residual: Option[Expression],
    joinType: JoinType,
    options: LookupOptions,
    shuffle: ShuffleDecision,
    child: SparkPlan)
  extends LookupJoinNode {

  override def nodeName: String = "LookupJoin"

  override def table: String = source.name

  override def connector: String = source.table.getClass.getSimpleName

  override def requiredChildDistribution: Seq[Distribution] = shuffle match {
    case ShuffleDecision.Hash(_) =>
      Seq(ClusteredDistribution(keys.filterNot(KeyCandidate.isConstant)))
    case _ => Seq(UnspecifiedDistribution)
  }

  override def outputOrdering: Seq[SortOrder] = if (options.ordered) child.outputOrdering else Nil

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows"),
    "lookupHits" -> SQLMetrics.createMetric(sparkContext, "rows answered from the cache"),
    "lookupMisses" -> SQLMetrics.createMetric(sparkContext, "keys asked of the store"),
    "lookupRequests" -> SQLMetrics.createMetric(sparkContext, "round trips to the store"),
    "lookupTime" -> SQLMetrics.createNanoTimingMetric(sparkContext, "time in the store"),
    "lookupFailures" -> SQLMetrics.createMetric(sparkContext, "failed round trips"),
    "lookupCached" -> SQLMetrics.createMetric(sparkContext, "keys put into the cache")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val rows = child.execute()
    val lookup = newLookupTask(rows.getNumPartitions)
    val (placed, report) = QueryScope.stream(sparkContext) match {
      case Some(stream) if shuffle.customPartitions.isDefined =>
        // Not the cache's name: a connector's function may differ between micro-batches.
        val application = sparkContext.applicationId // the homes are executors of this application
        val name = (Seq(application, stream, source.name) ++ keyColumns.map(_.name)).mkString(" ")
        val (settled, report) = ShardHomes.settle(name, rows, sparkContext)
        (settled, Some(report))
      case _ => (rows, None)
    }
    placed.mapPartitionsWithIndex(
      (index, rows) =>
        if (rows.hasNext) {
          report.foreach(_.here(index))
          lookup.join(index, rows)
        } else Iterator.empty,
      preservesPartitioning = true
    )
  }

  private def newLookupTask(tasks: Int): LookupTask = {
    val context = new LookupContext(
      DataTypeUtils.fromAttributes(keyColumns),
      DataTypeUtils.fromAttributes(columns),
      source.pushed(filters),
      shuffle.isInstanceOf[ShuffleDecision.Custom],
      shuffle.customPartitions.getOrElse(0)
    )
    val made =
      ConnectorCall(source.name, "newLookup", "this query")(source.table.newLookup(context))
    val function = new ShippedFunction(made)
    new LookupTask(
      source.name,
      function,
      context.keys,
      context.columns,
      keys,
      child.output,
      compared,
      columns,
      filters,
      projection,
      residual,
      leftOutput,
      joinType == LeftOuter,
      options,
      conf.getConf(LookupConf.MAX_BUFFERED_ROWS),
      if (context.customShuffle) context.numPartitions else tasks,
      cacheName(made, function.bytes),
      context.customShuffle,
      LookupMetrics(metrics)
    )
  }

  /** The name of this cache in an executor; none if no other task shares it. */
  private def cacheName(function: LookupFunction, shipped: Array[Byte]): Option[String] =
    if (conf.getConf(LookupConf.CACHE_SCOPE) == "task") None
    else {
      val asked = function match {
        case known: KnownByValue => known.value
        case _ =>
          val digest = MessageDigest.getInstance("SHA-256").digest(shipped)
          new BigInteger(1, digest).toString(16)
      }
      // The plan does not identify a subquery's result or a user's function.
      val isUnknown = (projection ++ filters).exists(isOpaque)
      Some(s"${source.name} ${if (isUnknown) s"of $id" else CachedRows.number(kept(asked))}")
    }

  private def kept(asked: AnyRef): CachedRows =
    CachedRows.of(asked, keyColumns, columns, projection, filters, options)

  private def isOpaque(expression: Expression): Boolean = expression.exists {
    case _: UserDefinedExpression | _: PlanExpression[_] => true
    case _ => false
  }

  override def firedMessage: String =
    s"rows of ${source.name} are looked up by key, not scanned"

  override protected def doCanonicalize(): SparkPlan = super.doCanonicalize() match {
    case join: LookupJoinExec => join.copy(columns = named(join.columns))
    case other => other
  }

  override protected def withNewChildInternal(newChild: SparkPlan): LookupJoinExec =
    copy(child = newChild)
}

/** The operator's metrics, to which tasks add. */
private[lookup] final case class LookupMetrics(metrics: Map[String, SQLMetric]) {
  def add(counts: LookupCounts): Unit = {
    metrics("numOutputRows") += counts.rowsOut
    metrics("lookupHits") += counts.hits
    metrics("lookupMisses") += counts.misses
    metrics("lookupRequests") += counts.requests
    metrics("lookupTime") += counts.nanos
    metrics("lookupFailures") += counts.failures
    metrics("lookupCached") += counts.cached
  }
}

/** The work of a lookup join's tasks, serialized without the plan. */
private[lookup] final class LookupTask(
    name: String,
    shipped: ShippedFunction,
    keySchema: StructType,
    columnSchema: StructType,
    keys: Seq[Expression],
    input: Seq[Attribute],
    compared: Seq[Expression],
    columns: Seq[Attribute],
    filters: Option[Expression],
    projection: Seq[NamedExpression],
    residual: Option[Expression],
    leftOutput: Seq[Attribute],
    isLeftOuter: Boolean,
    options: LookupOptions,
    maxRows: Int,
    taskCount: Int,
    cacheName: Option[String],
    isSharded: Boolean,
    metrics: LookupMetrics)
  extends Serializable {

  def join(index: Int, rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val task = TaskContext.get()
    val counts = new LookupCounts
    val function = shipped.received()
    val client = new StoreClient(
      function,
      options.async.getOrElse(true),
      columnSchema,
      options.retry,
      () => UnsafeProjection.create(compared, columns),
      s"firesteel lookup $name $index")
    val end = new AtomicBoolean
    def running = s"the task $index of $taskCount"
    def close(): Unit = if (end.compareAndSet(false, true)) {
      metrics.add(counts)
      client.close()
      ConnectorCall(name, "close", running)(function.close())
    }
    task.addTaskCompletionListener[Unit](_ => close())
    ConnectorCall(name, "open", running) {
      function.open(TaskInfo(index, taskCount, task.attemptNumber(), s"$name ($index/$taskCount)"))
    }
    val kept = UnsafeProjection.create(projection, columns)
    kept.initialize(index)
    val store = new LookupStore(
      name,
      keySchema,
      columnSchema,
      client,
      cache(index),
      UnsafeProjection.create(compared, columns),
      filters.map(predicate(_, columns, index)).orNull,
      kept,
      function.mayAnswerOtherKeys,
      ConnectorCall(name, "maxBatchKeys", running)(batchKeys(function)),
      options.timeoutMillis
    )
    // Without a match all columns of the right side are null, whatever the store's schema declares.
    val right = projection.map(_.toAttribute.withNullability(true))
    val output = UnsafeProjection.create(leftOutput ++ right, input ++ right)
    val joiner = new RowJoiner(
      residual.map(predicate(_, input ++ right, index)).orNull,
      isLeftOuter,
      right.length,
      output,
      output)
    val keyProjection = UnsafeProjection.create(keys, input)
    keyProjection.initialize(index)
    val joined = new LookupJoinIterator(
      rows,
      row => {
        val key = keyProjection(row)
        if (key.anyNull()) null else key
      },
      store,
      joiner,
      counts,
      options.ordered,
      if (client.isAsync) () => questions(function) else () => 1,
      maxRows
    )
    new ClosingIterator(joined, () => close())
  }

  private def questions(function: LookupFunction): Int = function match {
    case some: AnswersSome => math.min(options.capacity, some.mostQuestions)
    case _ => options.capacity
  }

  private def batchKeys(function: LookupFunction): Int = {
    val most = function.maxBatchKeys
    if (most < 1) throw LookupErrors.badBatchKeys(name, most)
    math.min(options.batchSize, most)
  }

  private def predicate(condition: Expression, input: Seq[Attribute], index: Int) = {
    val compiled = Predicate.create(condition, input)
    compiled.initialize(index)
    compiled
  }

  /**
   * The cache of the running query. The task has the query's id, because a plan may run more than
   * once. Under custom shuffle each shard has its own cache, in whichever task it runs.
   */
  private def cache(index: Int): AnswerCache = options.cache match {
    case policy: CachePolicy.Partial =>
      val shared = for {
        name <- cacheName
        query <- QueryScope.of(TaskContext.get())
      } yield s"$query $name${if (isSharded) s" $index" else ""}"
      shared.fold(AnswerCache.of(policy, keySchema))(LookupCaches.shared(_, policy, keySchema))
    case _ => AnswerCache.None
  }
}

/** Rows, and an action after the last one. */
private final class ClosingIterator(rows: Iterator[InternalRow], close: () => Unit)
  extends Iterator[InternalRow] {

  override def hasNext: Boolean = rows.hasNext || {
    close()
    false
  }

  override def next(): InternalRow = rows.next()
}
