package io.firesteel.changelog.state

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{DataType, LongType, StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String
import org.scalatest.funsuite.AnyFunSuite

/** Several tables in one store, each beside a map. */
class StateTableSuite extends AnyFunSuite {

  private val schemas = Seq("a STRING" -> "n BIGINT", "" -> "s STRING", "n BIGINT, a STRING" -> "")
    .map { case (entry, value) => schemaOf(entry) -> schemaOf(value) }
  private val layout = StateLayout.ofTables(
    "rows",
    Seq(LongType),
    schemas.zipWithIndex.map { case ((entry, value), i) => TableLayout(s"t$i", entry, value) })

  private val store = new MapStore(layout.key)
  private val counts = RowsOperator.newCounts()
  private val tables = schemas.indices.map { i =>
    new StateTable(new StateEntries(KeyedStore.of(store), counts), layout, i)
  }

  private def schemaOf(ddl: String): StructType =
    if (ddl.isEmpty) StructType(Nil) else StructType.fromDDL(ddl)

  private val toKey = UnsafeProjection.create(Array[DataType](LongType))
  private val makers = schemas.map { case (entry, value) => (maker(entry), maker(value)) }

  private def maker(schema: StructType): Int => UnsafeRow = {
    val make = UnsafeProjection.create(schema.map(_.dataType).toArray)
    n =>
      make(InternalRow.fromSeq(schema.map(_.dataType).map {
        case LongType => n.toLong
        case _: StringType if n % 7 == 0 => null
        case _ => UTF8String.fromString("x" * (n % 40) + n)
      }))
  }

  private def key(n: Int): InternalRow = toKey(InternalRow(if (n == 0) null else n.toLong))

  test("each table has its own entries, found by key and entry, scanned by key") {
    val random = new Random(20261125)
    val truth = mutable.Map.empty[(Int, Int, UnsafeRow), UnsafeRow]
    (1 to 4000).foreach { step =>
      val (t, k, n) = (random.nextInt(3), random.nextInt(5), random.nextInt(30))
      val (entry, value) = (makers(t)._1(n).copy(), makers(t)._2(step).copy())
      if (random.nextInt(3) == 0) {
        tables(t).remove(key(k), entry)
        truth.remove((t, k, entry))
      } else {
        tables(t).put(key(k), entry, value)
        truth((t, k, entry)) = value
      }
      assert(tables(t).get(key(k), entry) == truth.getOrElse((t, k, entry), null))
    }
    for (t <- tables.indices; k <- 0 until 5) {
      val found = mutable.ArrayBuffer.empty[(UnsafeRow, UnsafeRow)]
      tables(t).scan(key(k))((entry, value) => found += entry.copy() -> value.copy())
      val expected = truth.collect { case ((`t`, `k`, entry), value) => entry -> value }
      assert(found.size == expected.size && found.toMap == expected.toMap)
    }
    tables.indices.foreach { t =>
      val all = tables(t).all.map { case (k, entry, value) =>
        (if (k.isNullAt(0)) 0 else k.getLong(0).toInt, entry.copy()) -> value.copy()
      }.toMap
      assert(all == truth.collect { case ((`t`, k, entry), value) => (k, entry) -> value }.toMap)
    }
    assert(counts.updated.value + counts.removed.value == 4000)
  }
}
