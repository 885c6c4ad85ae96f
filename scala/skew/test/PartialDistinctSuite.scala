package io.firesteel.skew

import io.firesteel.core.rows.{MemoryBudget, MergeableAggregates}
import io.firesteel.testkit.TimedSuite
import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

/** The memory that a task reserves while it looks for duplicates. */
class PartialDistinctSuite extends TimedSuite {

  /** Grants memory up to a bound, and records the requests. */
  private final class Asked(most: Long) extends MemoryBudget {
    val totals: ArrayBuffer[Long] = ArrayBuffer.empty
    override def hold(total: Long): Boolean = {
      totals += total
      total <= most
    }
    override def releaseTo(total: Long): Unit = ()
    override def peak: Long = totals.max
  }

  private val megabyte = 1 << 20

  /** Size of the blocks of one group with `values` different values of a megabyte. */
  private def bytesOf(values: Int, budget: MemoryBudget): Long = {
    val groups = new Groups(true, 1, new MergeableAggregates(Nil, Nil))
    val partial =
      new PartialDistinct(groups, Array(false), Array(1), Array(0, 1), budget, 100000, 1.0)
    val toUnsafe =
      UnsafeProjection.create(Array[DataType](new StructType().add("value", StringType)))
    var sent = 0L
    (0 until values).foreach { i =>
      val text = UTF8String.fromString(f"$i%08d".padTo(megabyte, 'x'))
      val row: UnsafeRow = toUnsafe(InternalRow(InternalRow(text)))
      val group = groups.of(1L)
      partial.ended(group, named = true, full = partial.column(0).add(group, row, 0))
      sent += sizes(partial).sum
    }
    partial.finish()
    sent + sizes(partial).sum
  }

  private def sizes(blocks: Iterator[UnsafeRow]): Iterator[Long] =
    blocks.map(_.getBinary(1).length.toLong)

  test("memory for long values is reserved as they are added, not when their table grows") {
    val budget = new Asked(Long.MaxValue)
    assert(bytesOf(100, budget) >= 100L * megabyte)
    val steps = budget.totals.sliding(2).map(two => two.last - two.head)
    assert(budget.peak > 90L * megabyte)
    // One page, and a value that did not fit into the page before.
    assert(steps.max <= 6L * megabyte)
  }

  test("if memory is refused, everything held is sent") {
    val budget = new Asked(20L * megabyte)
    assert(bytesOf(100, budget) >= 100L * megabyte)
    assert(budget.peak <= 26L * megabyte)
  }
}
