package io.firesteel.changelog.state

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.execution.metric.SQLMetric
import org.apache.spark.sql.types.{DataType, LongType, StructType, TimestampType}
import org.scalatest.funsuite.AnyFunSuite

/** Which groups a watermark closes, on rows alone. */
class ClosedGroupsSuite extends AnyFunSuite {

  private val window = StructType.fromDDL("start TIMESTAMP, end TIMESTAMP")

  private def micros(ms: Long): Long = ms * 1000

  private def windowed(startMs: Long, endMs: Long): InternalRow =
    InternalRow(7L, InternalRow(micros(startMs), micros(endMs)))

  test("a time is closed from the watermark on") {
    val closed = ClosedGroups(keyAt = 1, rowAt = 0, TimestampType, after = 0L, watermarkMs = 100)
    assert(closed.isOf(InternalRow(7L, micros(100))) && closed.isOf(InternalRow(7L, micros(99))))
    assert(!closed.isOf(InternalRow(7L, micros(100) + 1)))
    assert(!closed.isOf(InternalRow(7L, null)), "what has no time is never closed")
  }

  test("a window is closed when the watermark reaches its end, not its start") {
    val closed = ClosedGroups(keyAt = 1, rowAt = 0, window, after = 0L, watermarkMs = 100)
    assert(closed.isOf(windowed(50, 100)) && !closed.isOf(windowed(50, 101)))
    assert(!closed.isOf(InternalRow(7L, null)))
  }

  test("times before 1970 are times") {
    val closed = ClosedGroups(keyAt = 0, rowAt = 0, TimestampType, after = 0L, watermarkMs = -100)
    assert(closed.isOf(InternalRow(micros(-100))) && !closed.isOf(InternalRow(micros(-99))))
  }

  test("rows of closed groups are left out and counted") {
    val closed = ClosedGroups(keyAt = 9, rowAt = 1, TimestampType, after = 0L, watermarkMs = 10)
    val late = new SQLMetric("sum")
    val rows = Seq[Any](micros(9), micros(10), micros(11), null, micros(5))
      .zipWithIndex.map { case (time, i) => InternalRow(i.toLong, time) }
    assert(closed.inTime(rows.iterator, late).map(_.getLong(0)).toSeq == Seq(2L, 3L))
    assert(late.value == 3)
  }

  test("entries of closed groups leave the store, and no others") {
    val key = StructType.fromDDL("k BIGINT, time TIMESTAMP")
    val toKey = UnsafeProjection.create(Array[DataType](LongType, TimestampType))
    val (store, counts) = (new MapStore(key), RowsOperator.newCounts())
    val entries = new StateEntries(KeyedStore.of(store), counts)
    def put(k: Long, time: Any): Unit = {
      val row = toKey(InternalRow(k, time))
      entries.put(row, row)
    }
    (0L until 20L).foreach(i => put(i, micros(i)))
    put(20L, null)
    entries.close(ClosedGroups(keyAt = 1, rowAt = 0, TimestampType, after = 0L, watermarkMs = 12))
    assert(entries.all.map(_.key.getLong(0)).toSet == (13L to 20L).toSet)
    assert(counts.removed.value == 13)
  }
}
