package io.firesteel.changelog.join

import io.firesteel.core.changes.RowKind
import io.firesteel.testkit.TimedSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{ByteType, DataType, LongType}

/** What a join emits of rows that come and go together, and of many copies of one row. */
class EmittedChangesSuite extends TimedSuite {

  private val toRow = UnsafeProjection.create(Array[DataType](LongType, LongType, ByteType))
  private val toKey = UnsafeProjection.create(Array[DataType](LongType))

  private def row(k: Long, v: Long): UnsafeRow = toRow(InternalRow(k, v, RowKind.Insert))

  private def shown(changes: EmittedChanges): Seq[(Long, Long, Byte)] =
    changes.take().map(row => (row.getLong(0), row.getLong(1), row.getByte(2))).toSeq

  test("what goes and comes is no change") {
    val changes = new EmittedChanges(None, updateBefore = true)
    changes.add(row(1, 1), -2)
    changes.add(row(2, 2), 1)
    changes.add(row(1, 1), 1)
    changes.add(row(1, 1), -1)
    assert(shown(changes) == Seq(
      (1, 1, RowKind.Delete),
      (1, 1, RowKind.Delete),
      (2, 2, RowKind.Insert)))
    changes.add(row(1, 1), -1)
    changes.add(row(1, 1), 1)
    assert(shown(changes).isEmpty && changes.size == 0)
  }

  test("rows of one key are updates, and equal ones no change") {
    val changes = new EmittedChanges(Some(toKey), updateBefore = true)
    changes.add(row(1, 1), -1)
    changes.add(row(2, 5), -1)
    changes.add(row(1, 2), 1)
    changes.add(row(2, 5), 1)
    assert(shown(changes) == Seq((1, 1, RowKind.UpdateBefore), (1, 2, RowKind.UpdateAfter)))
  }

  test("copies are made one by one") {
    val changes = new EmittedChanges(None, updateBefore = true)
    changes.add(row(1, 1), -50000000L)
    changes.add(row(1, 2), 50000000L)
    var (gone, come) = (0L, 0L)
    changes.take().foreach { row =>
      if (row.getByte(2) == RowKind.Delete) gone += 1 else come += 1
    }
    assert((gone, come) == ((50000000L, 50000000L)))
  }
}
