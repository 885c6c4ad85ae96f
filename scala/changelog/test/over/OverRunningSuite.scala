package io.firesteel.changelog.over

import io.firesteel.changelog.fold.Tally
import io.firesteel.changelog.state.MapEntries
import io.firesteel.core.rows.MergeableAggregates
import io.firesteel.testkit.TestSize

import java.util.Comparator

import scala.collection.mutable
import scala.jdk.CollectionConverters._
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, Rank, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, Complete, Max, Sum}
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}
import org.scalatest.funsuite.AnyFunSuite

/** Functions over all rows up to the current one, in partitions of many blocks. */
class OverRunningSuite extends AnyFunSuite {

  private val columns = Seq("v", "w").map(AttributeReference(_, LongType)())
  private val toRow = UnsafeProjection.create(Array[DataType](LongType, LongType))
  private val partition = UnsafeProjection.create(Array[DataType](LongType))(InternalRow(1L)).copy()

  private val order: Comparator[UnsafeRow] = (a, b) => {
    val byOrder = a.getLong(0).compare(b.getLong(0))
    if (byOrder != 0) byOrder else a.getLong(1).compare(b.getLong(1))
  }

  /** Sum and maximum of `w`, and the rank by `v`, of rows in order. */
  private type Results = Map[(Long, Long, Long, Long, Long), Long]

  private def model(rows: Seq[(Long, Long)], byPeers: Boolean): Results = {
    val sorted = rows.sorted
    var (sum, max, seen, rank, last) = (0L, Long.MinValue, 0L, 0L, Option.empty[Long])
    val found = mutable.ArrayBuffer.empty[(Long, Long, Long, Long, Long)]
    def add(row: (Long, Long)): Unit = {
      sum += row._2
      max = math.max(max, row._2)
      seen += 1
      if (!last.contains(row._1)) rank = seen
      last = Some(row._1)
    }
    if (byPeers) sorted.groupBy(_._1).toSeq.sortBy(_._1).foreach { case (_, group) =>
      group.sorted.foreach(add)
      group.foreach(r => found += ((r._1, r._2, sum, max, rank)))
    }
    else sorted.foreach { row =>
      add(row)
      found += ((row._1, row._2, sum, max, rank))
    }
    found.groupMapReduce(identity)(_ => 1L)(_ + _).toMap
  }

  private def functions() = new MergeableAggregates(
    Seq(Sum(columns(1)), Max(columns(1)), Rank(Seq(columns(0))))
      .map(AggregateExpression(_, Complete, isDistinct = false)),
    columns)

  /** The functions over a partition in a map as store. */
  final private class Running(byPeers: Boolean, val entries: MapEntries) {
    private val made = functions()
    private val state = new OverState(
      entries,
      OverState.layout(Seq(LongType)),
      columns.size,
      made.stateAttributes.size)
    private val running = new OverRunning(
      made,
      byPeers,
      (a, b) => a.getLong(0) == b.getLong(0),
      UnsafeProjection.create(Array[DataType](LongType, LongType, IntegerType)),
      UnsafeProjection.create(Array[DataType](LongType, LongType, LongType, LongType, IntegerType))
    )

    /** The net changes of the result, if these rows come or go. */
    def apply(changes: Array[(UnsafeRow, Long)]): Tally.Map = {
      entries.visits = 0
      val its = new OverPartition(state, partition, order)
      val net = running.of(its, its.add(changes))
      its.save()
      net
    }

    /** The same for rows whose `w` is 1; the number of changes. */
    def add(values: Seq[Long], count: Long = 1L): Int =
      apply(values.map(v => toRow(InternalRow(v, 1L)).copy() -> count).toArray).size
  }

  private def check(byPeers: Boolean, seed: Long): Unit = {
    val random = new Random(seed)
    val entries = new MapEntries(expires = random.nextInt(4) == 0)
    val its = new Running(byPeers, entries)
    var rows = Vector.empty[(Long, Long)]
    val folded = mutable.Map.empty[(Long, Long, Long, Long, Long), Long]
    var end = 0L
    (0 until 25).foreach { round =>
      val many = Seq(1, 5, 300, 1500)(random.nextInt(4))
      val kind = random.nextInt(4)
      val come =
        if (kind == 0 && rows.nonEmpty) Nil
        else Seq.fill(many) {
          end += random.nextInt(2)
          (if (kind == 1) end else random.nextInt(end.toInt + 1).toLong) -> random.nextInt(5).toLong
        }
      val gone = if (kind == 0 || kind == 3) random.shuffle(rows).take(many) else Nil
      rows = rows.diff(gone) ++ come
      val changes = (come.map(_ -> 1L) ++ gone.map(_ -> -1L)).groupMapReduce(_._1)(_._2)(_ + _)
        .filter(_._2 != 0L).toSeq.sortBy(_._1)
        .map { case ((v, w), n) => toRow(InternalRow(v, w)).copy() -> n }.toArray
      its.apply(changes).asScala.foreach { case (row, tally) =>
        val key =
          (row.getLong(0), row.getLong(1), row.getLong(2), row.getLong(3), row.getInt(4).toLong)
        val now = folded.getOrElse(key, 0L) + tally.count
        if (now == 0L) folded.remove(key) else folded(key) = now
      }
      assert(folded.toMap == model(rows, byPeers), s"round $round of $seed")
    }
  }

  Seq(false, true).foreach { byPeers =>
    test(
      s"rows that come in any order, and that go${if (byPeers) ", equal rows together" else ""}") {
      (0 until TestSize.cases(8)).foreach(i => check(byPeers, TestSize.seed(0L) + i))
    }
  }

  test("rows at the end of a large partition cost their block") {
    val its = new Running(byPeers = false, new MapEntries)
    import its.{add, entries}
    assert(add(0L until 100000L) == 100000)
    assert(add(Seq(100001L)) == 1)
    assert(entries.visits <= 3, "one block, of some 400")
    assert(add(Seq(50000L)) == 100001, "all rows behind it leave with their totals, and come")
  }

  test("a block that nothing reads is all that is left of a partition") {
    val its = new Running(byPeers = false, new MapEntries)
    import its.{add, entries}
    assert(add(1L to 300L) == 300)
    assert(add(151L to 300L, -1L) == 150)
    assert(entries.size == 1)
    assert(add(1L to 150L, -1L) == 150)
    assert(entries.size == 0)
  }
}
