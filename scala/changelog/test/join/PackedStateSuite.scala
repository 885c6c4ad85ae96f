package io.firesteel.changelog.join

import io.firesteel.changelog.fold.FoldedRows
import io.firesteel.changelog.plan.JoinedSide
import io.firesteel.changelog.state.{KeyedStore, MapEntries, MapStore, RowsOperator, StateEntries}
import io.firesteel.testkit.TimedSuite

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.FullOuter
import org.apache.spark.sql.types.{DataType, LongType, StringType}
import org.apache.spark.unsafe.types.UTF8String

/** Rows of both sides of a join, several in an entry, beside maps. */
class PackedStateSuite extends TimedSuite {

  private def column(name: String, of: DataType) = AttributeReference(name, of)()

  /** The left side counts matches, the right one does not. */
  private val spec: JoinSpec = {
    val (k, rk) = (column("k", LongType), column("rk", LongType))
    JoinSpec(
      FullOuter,
      JoinedSide(
        Seq(k),
        Seq(k, column("v", LongType), column("s", StringType)),
        Nil,
        single = false,
        replaces = false,
        countsMatches = true),
      JoinedSide(Seq(rk), Seq(rk, column("w", LongType)), Nil, false, false, false),
      None,
      None,
      unread = Nil,
      isInSlots = false,
      isSnapshot = false,
      updateBefore = true,
      below = None
    )
  }

  private val toKey = UnsafeProjection.create(Array[DataType](LongType))
  private val toLeft = UnsafeProjection.create(Array[DataType](LongType, StringType))

  private def key(k: Int): UnsafeRow = toKey(InternalRow(k.toLong)).copy()

  private def row(side: Int, n: Int): UnsafeRow =
    if (side == 1) toKey(InternalRow(n.toLong)).copy()
    else toLeft(InternalRow(
      n.toLong,
      if (n % 5 == 0) null else UTF8String.fromString("x" * (n % 30)))).copy()

  /** A row's copies and matches. */
  private type Rows = mutable.Map[UnsafeRow, (Long, Long)]

  private class Tried(entries: StateEntries) {
    val state = new PackedState(entries, spec)
    val truth: mutable.Map[(Int, Int), Rows] = mutable.Map.empty

    def side(number: Int): JoinRows = if (number == 0) state.left else state.right

    def rows(k: Int, number: Int): Rows =
      truth.getOrElseUpdate((k, number), mutable.Map.empty)

    /** Changes copies of rows of a key, on both sides at once, and checks what state says of them. */
    def change(k: Int, deltas: Seq[Seq[(Int, Long)]], random: Random): Unit = {
      state.open(key(k))
      val changed = deltas.zipWithIndex.map { case (its, number) =>
        val folded = new FoldedRows
        its.foreach { case (n, delta) => folded.add(row(number, n), delta) }
        side(number).changes(folded)
      }
      changed.zipWithIndex.foreach { case (its, number) =>
        val known = rows(k, number)
        its.foreach { change =>
          val (copies, matches) = known.getOrElse(change.row, (0L, 0L))
          assert(change.before == copies && change.matchesBefore == matches)
          if (number == 0) change.matchesAfter = random.nextInt(100).toLong
        }
        val others = known.keySet.filterNot(its.contains)
        assert(side(number).hasOthers(its) == others.nonEmpty)
        assert(side(number).others(its).map(_.row.copy()).toSet == others)
      }
      changed.zipWithIndex.foreach { case (its, number) =>
        its.foreach { change =>
          if (change.after == 0L) rows(k, number) -= change.row
          else rows(k, number)(change.row) =
            (change.after, if (number == 0) change.matchesAfter else 0L)
        }
        side(number).put(its)
      }
      state.close()
    }

    def check(k: Int): Unit = {
      state.open(key(k))
      Seq(0, 1).foreach { number =>
        val found = side(number).others(ChangedRows.none)
          .map(its => its.row.copy() -> ((its.copies, its.matches))).toSeq
        assert(found.size == rows(k, number).size && found.toMap == rows(k, number).toMap)
      }
      state.close()
    }
  }

  private def inStore(): (MapStore, Tried) = {
    val store = new MapStore(PackedLayout.of(spec).key)
    (store, new Tried(new StateEntries(KeyedStore.of(store), RowsOperator.newCounts())))
  }

  test("of a key with one row, a deletion without the row before it deletes what is there") {
    Seq(true, false).foreach { replaces =>
      val one = spec.right.copy(single = true, replaces = replaces)
      val ofOne = spec.copy(right = one)
      val entries = new StateEntries(
        KeyedStore.of(new MapStore(PackedLayout.of(ofOne).key)),
        RowsOperator.newCounts())
      val state = new PackedState(entries, ofOne)
      def change(n: Int, delta: Long): Seq[(Long, Long)] = {
        state.open(key(1))
        val folded = new FoldedRows
        folded.add(row(1, n), delta)
        val changed = state.right.changes(folded)
        state.right.put(changed)
        state.close()
        changed.iterator.map(its => (its.row.getLong(0), its.change)).toSeq
      }
      assert(change(1, 1L) == Seq((1L, 1L)))
      assert(change(2, 1L) == Seq((1L, -1L), (2L, 1L)))
      assert(change(3, -1L) == (if (replaces) Seq((2L, -1L)) else Nil))
    }
  }

  test("random changes of both sides are those of a map") {
    val random = new Random(20261126)
    val (store, tried) = inStore()
    (1 to 3000).foreach { step =>
      // Growing for a while, then shrinking: buckets come and go.
      val grows = step / 500 % 2 == 0
      val k = random.nextInt(3)
      tried.change(
        k,
        Seq(0, 1).map { number =>
          Seq.fill(random.nextInt(6)) {
            val n = random.nextInt(if (k == 0) 400 else 25)
            val there = tried.rows(k, number).get(row(number, n)).fold(0L)(_._1)
            n -> (if (grows || there == 0L) (if (random.nextInt(20) == 0) -1L else 1L) else -there)
          }
        },
        random
      )
      if (step % 50 == 0) (0 until 3).foreach(tried.check)
    }
    (0 until 3).foreach { k =>
      Seq(0, 1).foreach { number =>
        val left = (0 until 400)
          .flatMap(n => tried.rows(k, number).get(row(number, n)).map(its => n -> -its._1))
        tried.change(k, if (number == 0) Seq(left, Nil) else Seq(Nil, left), random)
      }
    }
    assert(store.size == 0, "an empty key leaves nothing")
  }

  test("buckets come and go one at a time, and each has few rows") {
    val (store, tried) = inStore()
    val random = new Random(1)
    def add(n: Int, delta: Long): Unit = tried.change(0, Seq(Seq(n -> delta), Nil), random)
    (0 until PackedSide.mostInFirst).foreach(add(_, 1L))
    assert(store.size == 1)
    add(PackedSide.mostInFirst, 1L)
    assert(store.size > 1 && store.size <= 4)
    tried.check(0)
    (PackedSide.mostInFirst + 1 until 1000).foreach(add(_, 1L))
    assert(tried.state.left.first.buckets == 1000 / PackedSide.perBucket)
    tried.check(0)
    (100 until 1000).foreach(add(_, -1L))
    assert(tried.state.left.first.buckets <= 100 / PackedSide.leastPerBucket)
    tried.check(0)
    (PackedSide.perBucket until 100).foreach(add(_, -1L))
    assert(store.size == 1 && !tried.state.left.first.isSpread)
    tried.check(0)
  }

  test("a change of a row in a key of many reads few entries") {
    val entries = new MapEntries
    val tried = new Tried(entries)
    val random = new Random(2)
    tried.change(0, Seq((0 until 20000).map(_ -> 1L), Nil), random)
    val before = entries.visits
    tried.state.open(key(0))
    val folded = new FoldedRows
    folded.add(row(0, 20001), 1L)
    tried.state.left.put(tried.state.left.changes(folded))
    tried.state.close()
    assert(entries.visits - before <= 5)
  }

  test("matches are written while a spread side is read") {
    val (_, tried) = inStore()
    tried.change(0, Seq((0 until 100).map(_ -> 2L), Nil), new Random(3))
    tried.state.open(key(0))
    tried.state.left.others(ChangedRows.none).zipWithIndex.foreach { case (its, i) =>
      tried.rows(0, 0)(its.row.copy()) = (its.copies, i + 1000L)
      tried.state.left.putMatches(its, i + 1000L)
    }
    tried.state.close()
    tried.check(0)
  }
}
