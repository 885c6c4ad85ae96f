package io.firesteel.changelog.store

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.UnsafeRowPair
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** Entries in pages beside a map of strings and numbers. */
class PagedRowsSuite extends AnyFunSuite {
  import PagedRowsSuite._

  test("random changes, scans, returns to what was frozen and copies") {
    Range(0, 8).foreach { seed =>
      val random = new Random(seed)
      var rows = new PagedRows(keys, values, prefixColumns = 1)
      var model = mutable.Map.empty[(Int, String), String]
      val frozen = mutable.ArrayBuffer.empty[(PagedRows.Frozen, Map[(Int, String), String])]
      Range(0, 25).foreach { turn =>
        Range(0, random.nextInt(200)).foreach { _ =>
          val k = (random.nextInt(5), "k" * random.nextInt(3) + random.nextInt(60))
          if (random.nextInt(3) > 0) {
            val v = "v" * random.nextInt(if (random.nextInt(100) == 0) 100000 else 40)
            rows.put(key(k), value(v))
            model(k) = v
          } else assert(rows.remove(key(k)) == model.remove(k).isDefined)
        }
        assert(rows.size == model.size && shown(rows.all) == model.toMap, s"seed $seed, turn $turn")
        Range(0, 5).foreach { p =>
          assert(shown(rows.withPrefix(prefix(p))) == model.toMap.filter(_._1._1 == p))
        }
        model.foreach { case (k, v) => assert(rows.get(key(k)).getString(0) == v) }
        assert(rows.get(key((9, "none"))) == null)
        if (random.nextInt(3) == 0) frozen += ((rows.frozen(), model.toMap))
        if (frozen.nonEmpty && random.nextInt(4) == 0) {
          rows.restore(frozen.last._1)
          model = mutable.Map.from(frozen.last._2)
        }
        if (random.nextInt(4) == 0) {
          // Of a copy nothing was frozen.
          val copy = rows.tidy()
          if (copy ne rows) frozen.clear()
          rows = copy
        }
        frozen.foreach { case (its, wanted) =>
          assert(its.size == wanted.size && shown(its.all) == wanted, s"seed $seed, turn $turn")
        }
      }
    }
  }

  test("rows that were returned stay as they were") {
    val rows = new PagedRows(keys, values, prefixColumns = 0)
    val k = key((1, "a"))
    rows.put(k, value("first"))
    val (got, listed) = (rows.get(k), rows.all.next().value)
    rows.put(k, value("second"))
    rows.remove(k)
    Range(0, 1000).foreach(i => rows.put(key((i, "b")), value("third")))
    assert(got.getString(0) == "first" && listed.getString(0) == "first")
  }

  test("keys that are removed and added again, and entries that change while a prefix is read") {
    val rows = new PagedRows(keys, values, prefixColumns = 1)
    Range(0, 10).foreach(i => rows.put(key((1, s"k$i")), value("old")))
    Range(0, 10, 2).foreach(i => rows.remove(key((1, s"k$i"))))
    Range(0, 10, 4).foreach(i => rows.put(key((1, s"k$i")), value("new")))
    val seen = mutable.Set.empty[String]
    rows.withPrefix(prefix(1)).foreach { entry =>
      seen += entry.key.getString(1)
      rows.put(entry.key, value("changed"))
      rows.remove(key((1, "k8")))
    }
    assert(seen.toSet - "k8" == Set("k0", "k4", "k1", "k3", "k5", "k7", "k9"))
    assert(shown(rows.withPrefix(prefix(1))).values.toSet == Set("changed"))
    assert(rows.size == 7)
  }

  test("a copy leaves the memory of old values behind") {
    var rows = new PagedRows(keys, values, prefixColumns = 1)
    Range(0, 100).foreach { turn =>
      Range(0, 1000).foreach(i => rows.put(key((i % 7, s"k$i")), value(s"$turn" * 20)))
      rows = rows.tidy()
    }
    val before = rows
    Range(0, 1000).foreach(i => rows.remove(key((i % 7, s"k$i"))))
    assert(rows.size == 0 && before.bytes < 4000000L, s"${before.bytes} bytes")
  }

  test(
    "a value that is written often, and a key that comes and goes, take no more memory or time") {
    val rows = new PagedRows(keys, values, prefixColumns = 1)
    Range(0, 2000).foreach(i => rows.put(key((i % 5, s"k$i")), value("v")))
    val before = rows.frozen()
    val seen = rows.withPrefix(prefix(1))
    val (hot, large) = (key((1, "hot")), value("x" * 2000))
    val turns = 100000
    Range(0, turns).foreach { _ =>
      rows.put(hot, large)
      if (seen.hasNext) assert(seen.next().key.getInt(0) == 1)
      rows.put(hot, value("y"))
      rows.remove(hot)
    }
    assert(!seen.hasNext && rows.size == 2000)
    assert(rows.bytes < 4000000L, s"${rows.bytes} bytes")
    assert(before.size == 2000 && before.all.size == 2000)
    rows.restore(before)
    assert(shown(rows.all) == shown(before.all))
  }

  test("keys that differ in any bits have different hashes") {
    Range(0, 64 - 10).foreach { shift =>
      val hashes = Range(0, 1000).map { i =>
        BytePages.hash(toNumber(InternalRow(i.toLong << shift)).copy())
      }
      assert(hashes.distinct.size > 990 && hashes.map(_ & 1023).distinct.size > 550, s"by $shift")
    }
  }
}

private object PagedRowsSuite {
  private val toNumber = UnsafeProjection.create(new StructType().add("n", LongType))
  private val keys = new StructType().add("p", IntegerType).add("k", StringType)
  private val values = new StructType().add("v", StringType)
  private val toKey = UnsafeProjection.create(keys)
  private val toValue = UnsafeProjection.create(values)
  private val toPrefix = UnsafeProjection.create(new StructType().add("p", IntegerType))

  private def key(its: (Int, String)): UnsafeRow =
    toKey(InternalRow(its._1, UTF8String.fromString(its._2))).copy()
  private def value(v: String): UnsafeRow = toValue(InternalRow(UTF8String.fromString(v))).copy()
  private def prefix(p: Int): UnsafeRow = toPrefix(InternalRow(p)).copy()

  private def shown(entries: Iterator[UnsafeRowPair]): Map[(Int, String), String] = {
    val all = entries.map { entry =>
      (entry.key.getInt(0), entry.key.getString(1)) -> entry.value.getString(0)
    }.toSeq
    assert(all.map(_._1).distinct.size == all.size, "an entry came twice")
    all.toMap
  }
}
