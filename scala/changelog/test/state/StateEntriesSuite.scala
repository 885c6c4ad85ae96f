package io.firesteel.changelog.state

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType, StructType}
import org.scalatest.funsuite.AnyFunSuite

/** Entries of a store, for ever and for a time, beside a map that notes when each was written. */
class StateEntriesSuite extends AnyFunSuite {

  private val key = StructType.fromDDL("k BIGINT, e BIGINT")
  private val value = StructType.fromDDL("v BIGINT")
  private val toKey = UnsafeProjection.create(Array[DataType](LongType, LongType))
  private val toRow = UnsafeProjection.create(Array[DataType](LongType))

  private def keyOf(k: Long, e: Long): UnsafeRow = toKey(InternalRow(k, e))
  private def rowOf(v: Long): UnsafeRow = toRow(InternalRow(v))

  private def scanned(entries: StateEntries, k: Long): Map[Long, Long] = {
    val found = mutable.Map.empty[Long, Long]
    entries.scan(rowOf(k))((key, value) => found(key.getLong(1)) = value.getLong(0))
    found.toMap
  }

  test("without a time to live entries stay, and are scanned by the beginning of their key") {
    val entries = new StateEntries(KeyedStore.of(new MapStore(key)), RowsOperator.newCounts())
    (0L until 20L).foreach(i => entries.put(keyOf(i % 2, i), rowOf(i * i)))
    entries.remove(keyOf(0, 4))
    entries.remove(keyOf(5, 5))
    assert(scanned(entries, 0) == (0L until 20L by 2).filter(_ != 4).map(i => i -> i * i).toMap)
    assert(scanned(entries, 7).isEmpty)
    assert(entries.get(keyOf(1, 3)).getLong(0) == 9 && entries.get(keyOf(1, 4)) == null)
    assert(!entries.expires && entries.present(-3) == -3, "a debt is kept")
    assert(entries.all.size == 19)
  }

  test("with a time to live an entry is there until so long after it was last written") {
    val (ttl, store, random) = (100L, new MapStore(key), new Random(7))
    val written = mutable.Map.empty[(Long, Long), (Long, Long)]
    val counts = RowsOperator.newCounts()
    var now = 0L
    (1 to 80).foreach { _ =>
      now += random.nextInt(40)
      val entries =
        new ExpiringEntries(KeyedStore.of(store), counts, value, Lifetimes.One(ttl), now, "rows")
      def live = written.collect { case (at, (v, time)) if now - time <= ttl => at -> v }
      (0 until 5).foreach { _ =>
        val at = (random.nextInt(3).toLong, random.nextInt(10).toLong)
        if (random.nextInt(4) == 0) {
          entries.remove(keyOf(at._1, at._2))
          written.remove(at)
        } else {
          entries.put(keyOf(at._1, at._2), rowOf(now + at._2))
          written(at) = (now + at._2, now)
        }
      }
      for (k <- 0L until 3L; e <- 0L until 10L)
        assert(Option(entries.get(keyOf(k, e))).map(_.getLong(0)) == live.get((k, e)))
      (0L until 3L).foreach { k =>
        assert(scanned(entries, k) == live.collect { case ((`k`, e), v) => e -> v }.toMap)
      }
      assert(entries.all.size == live.size)
      assert(store.size >= live.size)
      entries.evict()
      store.commit()
    }
    assert(store.size < 30, "what has expired leaves the store")
    assert(counts.expired.value > 0)
  }

  test("of a time to live, a debt is nothing and is counted") {
    val counts = RowsOperator.newCounts()
    val entries =
      new ExpiringEntries(
        KeyedStore.of(new MapStore(key)),
        counts,
        value,
        Lifetimes.One(5L),
        0L,
        "rows")
    assert(entries.expires && entries.present(3) == 3 && entries.present(-2) == 0)
    assert(counts.late.value == 1)
  }

  test("a value is given as it was put, and stays when the next one is read") {
    val entries =
      new ExpiringEntries(
        KeyedStore.of(new MapStore(key)),
        RowsOperator.newCounts(),
        value,
        Lifetimes.One(5L),
        0L,
        "rows")
    entries.put(keyOf(1, 1), rowOf(11))
    entries.put(keyOf(1, 2), rowOf(12))
    val first = entries.get(keyOf(1, 1))
    assert(entries.get(keyOf(1, 2)) == rowOf(12) && first == rowOf(11))
  }

  test("what is evicted is what had expired before the micro-batch, in one of sixteen") {
    val (store, counts) = (new MapStore(key), RowsOperator.newCounts())
    def at(now: Long) =
      new ExpiringEntries(KeyedStore.of(store), counts, value, Lifetimes.One(10L), now, "rows")
    at(0).put(keyOf(1, 1), rowOf(1))
    at(10).put(keyOf(2, 2), rowOf(2))
    store.version = 15
    at(20).evict()
    assert(store.size == 2, "not this micro-batch's turn")
    store.version = 16
    at(20).evict()
    assert(store.size == 1 && at(20).get(keyOf(2, 2)) != null && counts.expired.value == 1)
  }
}
