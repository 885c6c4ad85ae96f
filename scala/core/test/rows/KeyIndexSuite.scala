package io.firesteel.core.rows

import scala.collection.mutable
import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{AttributeReference, UnsafeRow}
import org.apache.spark.sql.types.{BinaryType, BooleanType, CalendarIntervalType, DateType, DecimalType, DoubleType, IntegerType, LongType, StringType, StructType}
import org.scalatest.funsuite.AnyFunSuite

/** Groups of keys of any shape, and the keys of rows. */
class KeyIndexSuite extends AnyFunSuite {

  private def indexOf(ddl: String): KeyIndex = {
    val keys = attributes(ddl)
    new KeyIndex(KeyIndex.isNumber(keys), keys.size)
  }

  private def attributes(ddl: String): Seq[AttributeReference] =
    (if (ddl.isEmpty) Nil else StructType.fromDDL(ddl)).map(f =>
      AttributeReference(f.name, f.dataType)())

  /** Offers keys with their values, each several times. */
  private def check(ddl: String, values: Seq[Seq[Any]]): Unit = {
    val (index, make) = (indexOf(ddl), RowMaker(ddl))
    val groups = mutable.LinkedHashMap.empty[UnsafeRow, Int]
    new Random(3).shuffle(Seq.fill(3)(values).flatten).foreach { key =>
      val row = make(key: _*)
      assert(index.of(row) == groups.getOrElseUpdate(row.copy(), groups.size), key)
    }
    groups.foreach { case (key, group) =>
      assert(index.key(group) == key && index.of(key) == group)
    }
    assert(index.size == values.size, "all of these differ")
    index.clear()
    val _ = assert(index.size == 0 && index.of(make(values.head: _*)) == 0)
  }

  test("a key of one word, with null beside 0") {
    check("n BIGINT", Seq(Seq(null), Seq(0L), Seq(-1L), Seq(Long.MinValue), Seq(4096L)))
    check("n INT", Seq(Seq(null), Seq(0), Seq(-1), Seq(Int.MinValue)))
    check("b BOOLEAN", Seq(Seq(null), Seq(true), Seq(false)))
    check("d DECIMAL(18,2)", Seq(Seq(null), Seq(BigDecimal("0.00")), Seq(BigDecimal("-1.50"))))
  }

  test("floats are compared by their bits: the caller normalises them") {
    check("d DOUBLE", Seq(Seq(null), Seq(0.0), Seq(-0.0), Seq(Double.NaN), Seq(1.0 / 0)))
  }

  test("keys of several columns, of strings, and of more than a word") {
    check("s STRING", Seq(Seq(null), Seq(""), Seq("a"), Seq("a" * 10000)))
    check("a INT, b INT", Seq(Seq(null, 1), Seq(1, null), Seq(null, null), Seq(1, 1)))
    check("d DECIMAL(38,2)", Seq(Seq(null), Seq(BigDecimal("0.00")), Seq(BigDecimal("1e30"))))
    check("a ARRAY<INT>", Seq(Seq(null), Seq(Seq.empty), Seq(Seq[Any](1, null))))
  }

  test("a key of no columns is one group") {
    check("", Seq(Nil))
    val index = indexOf("")
    (1 to 100).foreach(_ => assert(index.of(RowMaker("")()) == 0))
    assert(index.size == 1)
  }

  test("what fits a word") {
    val fits = Seq(LongType, IntegerType, DateType, BooleanType, DoubleType, DecimalType(18, 3))
    val not = Seq(StringType, BinaryType, DecimalType(19, 3), CalendarIntervalType)
    assert(fits.forall(KeyIndex.fitsWord) && !not.exists(KeyIndex.fitsWord))
    assert(!KeyIndex.isNumber(attributes("a BIGINT, b BIGINT")) && !KeyIndex.isNumber(Nil))
  }

  test("an integer as a word equals its word in a row") {
    val make = RowMaker("n INT")
    Seq(0, 1, -1, Int.MinValue, Int.MaxValue).foreach { n =>
      assert(KeyIndex.word(n) == make(n).getLong(0))
    }
  }

  test("a reader finds the key of a row wherever its columns are") {
    val ddl = "s STRING, n INT, l BIGINT, c STRING"
    val (input, make) = (attributes(ddl), RowMaker(ddl))
    val random = new Random(4)
    val rows = Seq.fill(500)(Seq[Any](
      "s" * random.nextInt(4),
      if (random.nextInt(5) == 0) null else random.nextInt(9) - 4,
      if (random.nextInt(5) == 0) null else random.nextInt(9).toLong,
      if (random.nextInt(5) == 0) null else "c" * random.nextInt(300)
    ))
    Seq(Seq(1), Seq(2), Seq(3), Seq(2, 1), Seq(3, 0, 2), Nil).foreach { places =>
      val keys = places.map(input(_))
      val (reader, index) =
        (new KeyReader(keys, input), new KeyIndex(KeyIndex.isNumber(keys), keys.size))
      val groups = mutable.HashMap.empty[Seq[Any], Int]
      rows.foreach { row =>
        val group = groups.getOrElseUpdate(places.map(row), groups.size)
        assert(reader.groupOf(make(row: _*), index) == group)
      }
    }
  }

  test("a reader names a missing column, and converts other rows to binary rows") {
    val (of, other) = (attributes("a BIGINT, b BIGINT"), attributes("c BIGINT").head)
    assert(intercept[IllegalArgumentException](KeyReader.placeOf(other, of))
      .getMessage.contains(s"$other is none of ${of.mkString(", ")}"))
    val make = RowMaker("a BIGINT, b BIGINT")
    val rows = Seq(make.internal(Seq(1L, null)), make(2L, 3L))
    assert(KeyReader.unsafe(rows.iterator, of).map(_.copy()).toSeq ==
      Seq(make(1L, null).copy(), make(2L, 3L).copy()))
  }
}
