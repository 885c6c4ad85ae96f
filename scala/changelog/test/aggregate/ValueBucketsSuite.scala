package io.firesteel.changelog.aggregate

import io.firesteel.changelog.fold.ValueTallies
import io.firesteel.changelog.state.MapEntries
import io.firesteel.testkit.TimedSuite

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, BoundReference, UnsafeProjection}
import org.apache.spark.sql.catalyst.expressions.aggregate.Max
import org.apache.spark.sql.types.{DataType, LongType}

/** The values of a set, in entries of a map that come and go. */
class ValueBucketsSuite extends TimedSuite {

  private val layout = new AggregateLayout(
    Seq(AttributeReference("k", LongType)()),
    Seq(Max(BoundReference(0, LongType, nullable = true))),
    Seq(false),
    retracting = true,
    isGlobal = false)
  private val group = UnsafeProjection.create(Array[DataType](LongType))(InternalRow(1L)).copy()

  /** A set of values, whose state is written and read after each change. */
  final private class Values(expires: Boolean) {
    val entries = new MapEntries(expires)
    private val made = new AggregateRows(layout)
    private val buckets = new ValueBuckets(layout, made, entries)
    private var state = layout.newState()

    def add(values: Seq[Long], rows: Long = 1L): Unit = {
      val changes = new ValueTallies(isNumber = true)
      values.foreach(changes.addNumber(0, _, rows))
      val (order, starts) = changes.byGroup(1)
      buckets.add(group, state, 0, changes, order, starts(0), starts(1))((_, _, _, _) => ())
      val stored = made.valueOf(state).copy()
      state = layout.newState()
      layout.mergeValue(state, stored)
    }

    /** Without a look at how many there are. */
    def all: Set[Long] = {
      val (seen, before) = (mutable.Set.empty[Long], state)
      state = layout.newState()
      layout.mergeValue(state, made.valueOf(before).copy())
      buckets.foreach(group, state, 0)((values, entry) => seen += values.number(entry))
      seen.toSet
    }

    def count: Int = layout.sets.head.size.buckets(state)
  }

  private def expire(values: Values)(isOne: Int => Boolean): Unit =
    values.entries.expire(key => isOne(key.getInt(2)))

  test("as values expire there are fewer entries, a few at a time, and fewer to be looked at") {
    val values = new Values(expires = true)
    (0L until 100L).foreach(i => values.add(i * 1000L until (i + 1) * 1000L))
    val most = values.count
    assert(most >= 390)
    expire(values)(_ => true)
    (1000L until 1040L).foreach { i =>
      values.entries.visits = 0
      values.add(i * 1000L until i * 1000L + 50L)
      // Each change visits its entry; at most as many are taken away, each from two.
      assert(values.entries.visits <= 50 * 3, i)
    }
    assert(values.count <= 50)
    values.entries.visits = 0
    assert(values.all == (1000L until 1040L).flatMap(i => i * 1000L until i * 1000L + 50L).toSet)
    assert(values.entries.visits <= 150)
  }

  test("a look at all values tells how many entries they need") {
    val values = new Values(expires = true)
    (0L until 20L).foreach(i => values.add(i * 1000L until (i + 1) * 1000L))
    expire(values)(_ % 8 != 3)
    val left = values.all
    assert(values.count <= 20 && left.size > 2000)
    assert(values.all == left)
    expire(values)(_ => true)
    assert(values.all.isEmpty && values.count == 0)
  }

  test("no value is lost or comes back, whatever expires and comes between") {
    val random = new Random(20261125L)
    (1 to 60).foreach { _ =>
      val values = new Values(expires = true)
      var wanted = Set.empty[Long]
      (1 to 12).foreach { _ =>
        val come = Seq.fill(random.nextInt(3000))(random.nextInt(20000).toLong).distinct
        values.add(come)
        wanted ++= come
        val gone = wanted.filter(_ => random.nextInt(4) == 0)
        if (random.nextBoolean()) {
          values.add(gone.toSeq, -1000L)
          wanted --= gone
        }
        if (random.nextInt(3) == 0) {
          val (share, at) = (1 + random.nextInt(4), random.nextInt(4))
          expire(values)(_ % share == at % share)
          wanted = values.all
        } else if (random.nextBoolean()) assert(values.all == wanted)
      }
      assert(values.all == wanted)
    }
  }

  test("entries that do not expire stay as many as they were") {
    val values = new Values(expires = false)
    (0L until 100L).foreach(i => values.add(i * 1000L until (i + 1) * 1000L))
    val most = values.count
    (0L until 99L).foreach(i => values.add(i * 1000L until (i + 1) * 1000L, -1L))
    assert(values.count >= most && values.all == (99000L until 100000L).toSet)
  }
}
