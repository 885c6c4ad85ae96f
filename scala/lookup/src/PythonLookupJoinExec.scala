package io.firesteel.lookup

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BasePredicate, Expression, NamedExpression, Predicate, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.{JoinType, LeftOuter}
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, Distribution, Partitioning}
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * Joins rows with the answers that a Python worker has added to them.
 *
 * @param firedRule the strategy that planned this node
 * @param answer column of `child`: the rows of the dimension, and once per batch the worker's
 *   counts
 * @param columns the columns of those rows
 * @param filters conditions on the answers, over `columns`
 * @param residual the rest of the join's condition, over both sides
 */
private[lookup] final case class PythonLookupJoinExec(
    firedRule: String,
    name: String,
    leftOutput: Seq[Attribute],
    keys: Seq[Expression],
    keyColumns: Seq[Attribute],
    answer: Attribute,
    columns: Seq[Attribute],
    projection: Seq[NamedExpression],
    filters: Option[Expression],
    residual: Option[Expression],
    joinType: JoinType,
    options: LookupOptions,
    shuffle: ShuffleDecision,
    child: SparkPlan)
  extends LookupJoinNode {

  override def nodeName: String = "PythonLookupJoin"

  override def table: String = name

  override def connector: String = "Python"

  override def outputOrdering: Seq[SortOrder] = child.outputOrdering

  private val counts = PythonLookupJoinExec.counts

  override lazy val metrics: Map[String, SQLMetric] =
    Map("numOutputRows" -> SQLMetrics.createMetric(sparkContext, "number of output rows")) ++
      counts.map { case (key, text) =>
        key -> (if (key == "load_ms") SQLMetrics.createTimingMetric(sparkContext, text)
                else SQLMetrics.createMetric(sparkContext, text))
      }

  override protected def doExecute(): RDD[InternalRow] = {
    val unfold = new PythonAnswers(
      leftOutput,
      child.output,
      answer,
      columns,
      projection,
      filters,
      residual,
      joinType == LeftOuter,
      longMetric("numOutputRows"),
      counts.map { case (key, _) => longMetric(key) }
    )
    child.execute().mapPartitionsWithIndex(
      (index, rows) => unfold.join(index, rows),
      preservesPartitioning = true)
  }

  override def firedMessage: String = s"rows of $name are looked up by key, in Python workers"

  override protected def doCanonicalize(): SparkPlan = super.doCanonicalize() match {
    case join: PythonLookupJoinExec => join.copy(columns = named(join.columns))
    case other => other
  }

  override protected def withNewChildInternal(newChild: SparkPlan): PythonLookupJoinExec =
    copy(child = newChild)
}

private[lookup] object PythonLookupJoinExec {

  /** The worker's counts in its order (`tests/contracts/python_lookup.json`), and their UI texts. */
  val counts: Seq[(String, String)] = Seq(
    "hits" -> "rows answered from the cache",
    "misses" -> "keys asked of the store",
    "loads" -> "keys loaded",
    "load_ms" -> "time in the store",
    "failures" -> "failed round trips",
    "cached_rows" -> "keys put into the cache",
    "requests" -> "round trips to the store"
  )
}

/** Unfolds the answers of one task. */
private[lookup] final class PythonAnswers(
    leftOutput: Seq[Attribute],
    input: Seq[Attribute],
    answer: Attribute,
    columns: Seq[Attribute],
    projection: Seq[NamedExpression],
    filters: Option[Expression],
    residual: Option[Expression],
    isLeftOuter: Boolean,
    rowsOut: SQLMetric,
    counts: Seq[SQLMetric])
  extends Serializable {

  def join(index: Int, rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val place = input.indexWhere(_.exprId == answer.exprId)
    // Without a match all columns of the right side are null, however they are computed.
    val right = projection.map(_.toAttribute.withNullability(true))
    val output = UnsafeProjection.create(leftOutput ++ right, input ++ right)
    val joiner = new RowJoiner(
      residual.map(predicate(_, input ++ right, index)).orNull,
      isLeftOuter,
      right.length,
      output,
      output)
    val kept = UnsafeProjection.create(projection, columns)
    kept.initialize(index)
    new PythonAnswerIterator(
      rows,
      place,
      columns.length,
      filters.map(predicate(_, columns, index)).orNull,
      kept,
      joiner,
      rowsOut,
      counts.toArray)
  }

  private def predicate(condition: Expression, over: Seq[Attribute], index: Int): BasePredicate = {
    val compiled = Predicate.create(condition, over)
    compiled.initialize(index)
    compiled
  }
}

/**
 * Emits the joined rows of one task.
 *
 * @param place place of the column with the answer
 * @param width number of the dimension's columns
 * @param filters conditions on rows of the dimension; null for all rows
 * @param kept the emitted columns of a row, computed once, so that a tested value is emitted
 */
private final class PythonAnswerIterator(
    rows: Iterator[InternalRow],
    place: Int,
    width: Int,
    filters: BasePredicate,
    kept: UnsafeProjection,
    joiner: RowJoiner,
    rowsOut: SQLMetric,
    counts: Array[SQLMetric])
  extends Iterator[InternalRow] {

  private[this] var started = false
  private[this] var ready: InternalRow = _

  override def hasNext: Boolean = {
    if (ready == null && started) ready = joiner.next()
    while (ready == null && rows.hasNext) {
      start(rows.next())
      ready = joiner.next()
    }
    ready != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    val row = ready
    ready = null
    rowsOut += 1
    row
  }

  private def start(row: InternalRow): Unit = {
    val both = row.getStruct(place, 2)
    if (!both.isNullAt(1)) count(both.getStruct(1, counts.length))
    val found = both.getArray(0)
    val matches = Array.newBuilder[InternalRow]
    var i = 0
    while (i < found.numElements()) {
      val answered = found.getStruct(i, width)
      if (filters == null || filters.eval(answered)) matches += kept(answered).copy()
      i += 1
    }
    joiner.start(row, matches.result())
    started = true
  }

  private def count(stats: InternalRow): Unit = {
    var i = 0
    while (i < counts.length) {
      counts(i) += stats.getLong(i)
      i += 1
    }
  }
}

/** Requires rows of equal keys in one partition, and passes them through. */
private[lookup] final case class DistributedByExec(keys: Seq[Expression], child: SparkPlan)
  extends UnaryExecNode {

  override def nodeName: String = "DistributedBy"
  override def output: Seq[Attribute] = child.output
  override def requiredChildDistribution: Seq[Distribution] = Seq(ClusteredDistribution(keys))
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = child.outputOrdering
  override protected def doExecute(): RDD[InternalRow] = child.execute()
  override protected def withNewChildInternal(newChild: SparkPlan): DistributedByExec =
    copy(child = newChild)
}
