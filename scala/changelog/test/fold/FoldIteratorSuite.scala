package io.firesteel.changelog.fold

import io.firesteel.changelog.aggregate.{AggregateLayout, PartialAggregate}
import io.firesteel.changelog.plan.{AnyAggregate, PlaceFunction, Places}
import io.firesteel.changelog.topn.{FirstRows, PartialFirst, RankedRows, RowIdentity}
import io.firesteel.testkit.TimedSuite
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Ascending, AttributeReference, BoundReference, SortOrder, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.aggregate.CollectList
import org.apache.spark.sql.types.{DataType, LongType}

/** What is folded, handed on early, and handed on as it comes. */
class FoldIteratorSuite extends TimedSuite {

  private val toRow = UnsafeProjection.create(Array[DataType](LongType, LongType))
  private val k = BoundReference(0, LongType, nullable = true)
  private val v = BoundReference(1, LongType, nullable = true)

  private def first(
      rows: Int,
      keys: Int,
      bytes: Long,
      entries: Int = Int.MaxValue): Seq[(Long, Long)] = {
    val input =
      Iterator.tabulate(rows)(i => toRow(InternalRow((i % keys).toLong, -i.toLong)): InternalRow)
    val ranked = new RankedRows(
      Seq(SortOrder(v, Ascending)),
      Places(PlaceFunction.RowNumber, 1, 1, shown = false),
      RowIdentity.of(Nil))
    val kept = new FirstRows(Seq(k), ranked, RowIdentity.of(Nil))
    new PartialFirst(input, FoldLimits(entries, new Granted(bytes)), kept)
      .map(row => (row.getLong(0), row.getLong(1)))
      .toSeq
  }

  private def best(rows: Seq[(Long, Long)]) = rows.groupMapReduce(_._1)(_._2)(math.min)

  test("rows with many keys alike are folded to the first of each") {
    val kept = first(rows = 300000, keys = 1000, bytes = Long.MaxValue)
    assert(kept.size == 1000)
    assert(kept.toMap == (0 until 1000).map(i => i.toLong -> (-299000L - i)).toMap)
  }

  test("rows with hardly two keys alike are handed on as they come, after a sample") {
    val kept = first(rows = 300000, keys = 150000, bytes = Long.MaxValue)
    assert(kept.size == 300000)
    assert(best(kept) == best(first(rows = 300000, keys = 150000, bytes = 1L)))
  }

  test("what is refused memory is handed on early, and nothing is lost") {
    val kept = first(rows = 20000, keys = 5000, bytes = 100000)
    assert(kept.size > 5000 && kept.size <= 20000)
    assert(best(kept) == best(first(rows = 20000, keys = 5000, bytes = Long.MaxValue)))
    assert(first(rows = 1000, keys = 10, bytes = 0L).size == 1000)
    assert(best(first(rows = 1000, keys = 10, bytes = 0L, entries = 1)).size == 10)
  }

  test("what a list keeps of its rows counts as memory") {
    val list = AnyAggregate(CollectList(BoundReference(0, LongType, nullable = true)), None)
    val layout = new AggregateLayout(
      Seq(AttributeReference("k", LongType)()),
      Seq(list),
      Seq(false),
      retracting = false,
      isGlobal = false)
    def parts(bytes: Long): Int = {
      val input = Iterator.tabulate(10000)(i => toRow(InternalRow(0L, i.toLong)): InternalRow)
      val limits = FoldLimits(Int.MaxValue, new Granted(bytes))
      new PartialAggregate(input, limits, layout, same = Seq(0), kindAt = -1).size
    }
    assert(parts(Long.MaxValue) == 1)
    assert(parts(100000L) >= 2, "10,000 rows of 24 bytes")
  }
}
