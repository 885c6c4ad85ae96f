package io.firesteel.rank

import io.firesteel.core.rows.{MemoryBudget, OrderPrefix}
import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, Expression, RowOrdering, SortOrder, UnsafeProjection}
import org.apache.spark.sql.firesteel.binaryKey
import org.apache.spark.sql.internal.SQLConf

/**
 * Keys, order and bound, which both operators of a top-n share.
 *
 * It is serialisable without a plan, so that a task's closure does not contain the operator.
 *
 * @param input columns of the rows; both halves keep all of them
 */
private[rank] final case class TopNKeys(
    partitionBy: Seq[Expression],
    orderBy: Seq[SortOrder],
    bound: RankBound,
    input: Seq[Attribute]) {

  /** The ordering of an input that is sorted by key, and by order within a key. */
  def sorted: Seq[SortOrder] = partitionBy.map(SortOrder(_, Ascending)) ++ orderBy

  /** Keys as expressions whose values are equal exactly if their bytes are. */
  def binaryKeys: Seq[Expression] = partitionBy.map(binaryKey)

  def prefix: OrderPrefix = OrderPrefix.of(orderBy)

  /** The projection to the binary key, for one task thread. */
  def newKeyOf(): UnsafeProjection = UnsafeProjection.create(binaryKeys, input)

  def newPrefixOf(): UnsafeProjection = UnsafeProjection.create(Seq(prefix.expression), input)

  def newOrder(): RowOrder =
    new RowOrder(RowOrdering.create(orderBy, input), input.length, prefix.decisive, prefix.edge)

  def newHeaps(budget: MemoryBudget): Heaps = new Heaps(bound, newOrder(), budget)
}

/** Settings that tasks need, read when the query is planned. */
private[rank] final case class TopNLimits(
    sampleRows: Int,
    maxNewKeys: Double,
    maxTaskMemory: Long) {

  def newVerdict(): Verdict = new Verdict(sampleRows, maxNewKeys)
}

private[rank] object TopNLimits {
  def of(conf: SQLConf): TopNLimits =
    TopNLimits(
      conf.getConf(RankConf.SAMPLE_ROWS),
      conf.getConf(RankConf.MAX_NEW_KEYS),
      conf.getConf(RankConf.MAX_TASK_MEMORY).getOrElse(Long.MaxValue))
}
