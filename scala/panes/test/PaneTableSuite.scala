package io.firesteel.panes

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection
import org.apache.spark.sql.types.{DataType, LongType}
import org.scalatest.funsuite.AnyFunSuite

/** Compares the table of panes with a map. */
class PaneTableSuite extends AnyFunSuite {

  /** States of two numbers: the first is a count, the second a sum of panes. */
  private def newTable: PaneTable =
    new PaneTable(
      UnsafeProjection.create(Array[DataType](LongType, LongType))(InternalRow(0L, 0L)).copy())

  private def fill(table: PaneTable, seen: Seq[(Int, Long)]): Unit =
    seen.grouped(PaneTable.batch).foreach { some =>
      val found = new Array[Int](PaneTable.batch)
      val promised = table.bytes + table.growth
      table.find(some.size, some.map(_._1).toArray, some.map(_._2).toArray, found)
      assert(table.bytes <= promised)
      some.indices.foreach { i =>
        val state = table.stateOf(found(i))
        state.setLong(0, state.getLong(0) + 1)
        state.setLong(1, state.getLong(1) + some(i)._2)
      }
    }

  private def check(table: PaneTable, seen: Seq[(Int, Long)], clue: String): Unit = {
    val counts = mutable.Map.empty[(Int, Long), Long]
    val cursor = table.cursor
    while (cursor.next()) {
      val pane = (cursor.group, cursor.pane)
      assert(!counts.contains(pane), s"$clue: $pane twice")
      counts(pane) = cursor.state.getLong(0)
      assert(cursor.state.getLong(1) == cursor.pane * cursor.state.getLong(0), clue)
    }
    assert(counts == seen.groupBy(identity).map { case (k, v) => k -> v.size.toLong }, clue)
    val _ = assert(table.size == counts.size, clue)
  }

  private val random = new Random(7)

  private val shapes: Map[String, () => (Int, Long)] = Map(
    "dense" -> (() => (random.nextInt(20), random.nextInt(3000).toLong - 1500)),
    "alone in their runs" -> (() => (random.nextInt(3), random.nextInt(100000) * 1000L)),
    "many groups" -> (() => (random.nextInt(50000), random.nextInt(3).toLong)),
    "anywhere" -> (() => (random.nextInt(5), random.nextLong() >> 1)),
    "one pane" -> (() => (Int.MaxValue - 1, -1L)),
    "ends of the range" -> (() =>
      (random.nextInt(2), if (random.nextBoolean()) Long.MaxValue else Long.MinValue))
  )

  shapes.foreach { case (name, next) =>
    test(s"every pane once, with its own state: $name") {
      val table = newTable
      Seq(1, 63, 64, 65, 60000).foreach { size =>
        val seen = Seq.fill(size)(next())
        fill(table, seen)
        check(table, seen, s"$name, $size")
        table.clear()
        check(table, Nil, s"$name, cleared")
      }
    }
  }
}
