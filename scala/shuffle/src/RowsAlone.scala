package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.execution.metric.SQLMetric

/** Observes the rows of a task and decides how long they are emitted unaggregated. */
final private[shuffle] class RowsAlone(
    hashOf: InternalRow => Long,
    limits: LocalAggregateLimits,
    out: SQLMetric,
    alone: SQLMetric,
    aggregated: SQLMetric)
  extends Switch {

  private[this] val rate = new KeyRate
  private[this] var seen = 0L
  private[this] var nextLook = RowsAlone.firstLook
  private[this] var pays = true

  override def goesOn: Boolean = pays

  override def see(row: InternalRow): Unit = {
    alone += 1
    out += 1
    if (!limits.allowAnything) look(row)
  }

  private def look(row: InternalRow): Unit = {
    rate.add(hashOf(row))
    seen += 1
    if (seen == nextLook) {
      pays = limits.allow(rate.distinct, rate.largestShare)
      nextLook += math.min(seen, RowsAlone.rowsBetweenLooks)
    }
  }

  override def before(rows: Iterator[InternalRow]): Iterator[InternalRow] =
    rows.map { row => aggregated += 1; row }

  override def behind(rows: Iterator[InternalRow]): Iterator[InternalRow] =
    rows.map { row => out += 1; row }
}

private object RowsAlone {
  val firstLook = 1L << 10
  val rowsBetweenLooks = 1L << 17
}
