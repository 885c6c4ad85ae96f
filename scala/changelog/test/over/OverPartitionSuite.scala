package io.firesteel.changelog.over

import io.firesteel.changelog.state.MapEntries

import java.util.Comparator

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType}
import org.scalatest.funsuite.AnyFunSuite

/** The rows of a partition in blocks: every row in its place, however they come and go. */
class OverPartitionSuite extends AnyFunSuite {

  private val toRow = UnsafeProjection.create(Array[DataType](LongType))
  private def row(v: Long): UnsafeRow = toRow(InternalRow(v)).copy()
  private val order: Comparator[UnsafeRow] = (a, b) => a.getLong(0).compare(b.getLong(0))

  /** A partition over a map as store, and what it should have. */
  final private class Checked(expires: Boolean = false) {
    val entries = new MapEntries(expires)
    val state = new OverState(entries, OverState.layout(Seq(LongType)), 1, 0)
    val model: mutable.TreeMap[Long, Long] = mutable.TreeMap.empty

    def partition(): OverPartition = new OverPartition(state, row(7), order)

    def add(changes: Map[Long, Long]): Unit = {
      val its = partition()
      val before = model.toMap
      changes.foreach { case (v, count) =>
        val now = model.getOrElse(v, 0L) + count
        if (now == 0L) model.remove(v) else model(v) = now
      }
      val changed = its.add(changes.toArray.sortBy(_._1).map { case (v, n) => (row(v), n) })
      assert(changed.map(its.entry(_).row.getLong(0)) ==
        changes.keys.toSeq.sorted.filter(v => before.get(v) != model.get(v)))
      // The neighbours of a change, both ways.
      changed.foreach { position =>
        val next = its.after(position)
        assert(next < 0 || its.before(next) == position)
      }
      its.save()
      assert(stored == model.toSeq, "what state has")
      val _ = assert(entries.size <= model.size / OverBlock.fewest + 2, "blocks are not too small")
    }

    private def stored: Seq[(Long, Long)] = {
      val its = partition()
      Iterator.iterate(if (model.isEmpty) -1L else 0L)(its.after)
        .takeWhile(_ >= 0).map(its.entry)
        .map(e => (e.row.getLong(0), e.after)).toSeq
    }
  }

  test("rows that come and go at random, by few and by many") {
    val random = new Random(20261127L)
    (0 until 20).foreach { _ =>
      val checked = new Checked(expires = random.nextInt(4) == 0)
      (0 until 30).foreach { _ =>
        val many = Seq(1, 10, 400, 2000)(random.nextInt(4))
        val goes = random.nextInt(3) == 0
        val values = Seq.fill(many)(random.nextInt(3000).toLong).distinct
        checked.add(values.flatMap { v =>
          val has = checked.model.getOrElse(v, 0L)
          if (goes) Option.when(has > 0)(v -> -has) else Some(v -> (1L + random.nextInt(2)))
        }.toMap)
      }
      checked.add(checked.model.map { case (v, count) => v -> -count }.toMap)
      assert(checked.entries.size == 0, "an empty partition leaves nothing")
    }
  }

  test("a retraction before its row leaves nothing once the row has come") {
    val checked = new Checked
    checked.add(Map(1L -> -1L, 2L -> 1L))
    assert(checked.model(1L) == -1L)
    checked.add(Map(1L -> 1L))
    assert(checked.model.keys.toSeq == Seq(2L))
  }

  test("a change at the end of a large partition reads its list and one block") {
    val checked = new Checked
    checked.add((0L until 100000L).map(_ -> 1L).toMap)
    checked.entries.visits = 0
    val its = checked.partition()
    val changed = its.add(Array(row(200000L) -> 1L))
    assert(its.entry(its.before(changed.head)).row.getLong(0) == 99999L)
    its.save()
    assert(checked.entries.visits == 2)
  }
}
