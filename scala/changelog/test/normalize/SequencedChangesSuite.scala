package io.firesteel.changelog.normalize

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.changelog.common.ChangelogConf

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType
import org.scalatest.Assertion

/** The two sides of an update in a changelog with a sequence, in streams and in batches. */
class SequencedChangesSuite extends ChangelogSuite {

  test("a sequence: the sides of an update with the commit's number, from whatever files") {
    withSequence(
      Seq(
        Seq(Row(1, "a", 4L, "+I")),
        Seq(Row(1, "b", 5L, "+U"), Row(1, "a", 5L, "-U")),
        Seq(Row(1, "b", 6L, "-U"), Row(1, "c", 6L, "+U")),
        Seq(Row(2, "x", 7L, "+U"), Row(1, "c", 7L, "-U"))
      ),
      Seq("1 a", "1 b", "1 c", "2 x")
    )
  }

  test("a sequence: what an update has replaced goes, whatever else updates have replaced since") {
    val (after, before, other) =
      (Row(1, "b", 5L, "+U"), Row(1, "b", 5L, "-U"), Row(1, "a", 5L, "-U"))
    withSequence(Seq(Seq(after, before, other)), Seq(""))
    withSequence(Seq(Seq(after), Seq(before, other)), Seq("1 b", ""))
    withSequence(
      Seq(Seq(after), Seq(other), Seq(before), Seq(other, after)),
      Seq("1 b", "1 b", "", "1 b"))
  }

  test("a sequence: the sides of an update each with its row's own") {
    withSequence(
      Seq(
        Seq(Row(1, "a", 4L, "+I")),
        Seq(Row(1, "a", 4L, "-U"), Row(2, "a", 5L, "+U")),
        Seq(Row(2, "b", 6L, "+U"), Row(2, "b", 6L, "-U"), Row(3, "b", 7L, "+U"))),
      Seq("1 a", "2 a", "3 b")
    )
    withSequence(
      Seq(Seq(Row(1, "a", 4L, "+I")), Seq(Row(2, "b", 4L, "+I")), Seq(Row(1, "a", 4L, "-U"))),
      Seq("1 a", "1 a, 2 b", "2 b"))
  }

  test("a sequence: rows with a null, or a border, at another place are not the same") {
    Seq[(String, Any, Any)](
      ("STRING", null, "x"),
      ("ARRAY<INT>", Seq(1, 2), Seq(1)),
      ("STRUCT<a: STRING, b: STRING>", Row(null, "x"), Row("x", null))).foreach {
      case (of, one, other) =>
        val (left, right) = if (of == "ARRAY<INT>") (Nil, Seq(2)) else (other, one)
        withSequence(
          Seq(Seq(Row(1, one, left, 5L, "+U")), Seq(Row(1, other, right, 5L, "-U"))),
          Seq("1", "1"),
          "id",
          s"id INT, v $of, w $of, n BIGINT, op STRING")
    }
  }

  test("a sequence that is one of the keys tells nothing of a key's rows: they are as they come") {
    withSequence(
      Seq(Seq(Row(1, "b", 5L, "+U")), Seq(Row(1, "c", 6L, "+U")), Seq(Row(1, "a", 5L, "-U"))),
      Seq("1 b", "1 b, 1 c", "1 c"),
      keys = "array('id', 'n')"
    )
  }

  test(
    "a sequence: what an update has replaced is not the row that came, whatever is read of them") {
    val first = Seq(Row(1, "a", 4L, "+I"))
    val (after, before) = (Row(1, "b", 5L, "+U"), Row(1, "a", 5L, "-U"))
    withSequence(Seq(first, Seq(after, before)), Seq("1", "1"), "id")
    withSequence(Seq(first, Seq(after, before), Seq(after)), Seq("1", "1", "1"), "count(*)")
    val plain = Seq(first, Seq(after), Seq(before), Seq(Row(1, "b", 5L, "-U")))
    withSequence(plain.take(3), Seq("1 a", "1 b", "1 b"))
    withConf(ChangelogConf.MAX_BUFFERED_ROWS.key -> 1) {
      withSequence(Seq(first, Seq(after, before)), Seq("1 a", "1 b"))
    }
  }

  test("a sequence: rows that differ only in what has no order, or no case, are not the same") {
    Seq("MAP<STRING, INT>" -> "map('x', %s)", "STRING COLLATE UTF8_LCASE" -> "IF(%s = 1, 'a', 'A')")
      .foreach { case (of, value) =>
        def row(v: Int, n: Int, op: String) =
          s"(1, CAST(${value.format(v)} AS $of), $n, '$op')"
        val rows = Seq(row(1, 4, "+I"), row(2, 5, "+U"), row(1, 5, "-U")).mkString(", ")
        val table = s"(SELECT * FROM VALUES $rows AS t(id, v, n, op))"
        spark.sql(table).coalesce(1).createOrReplaceTempView("without_order")
        val sql =
          "SELECT id FROM from_changelog(TABLE(without_order), 'op', 'id', sequence_by => 'n')"
        assert(spark.sql(sql).count() == 1, of)
      }
  }

  test("what an update has replaced is not out of sequence when it comes after its update") {
    val sql = "SELECT id, v, row_kind() AS op " +
      "FROM from_changelog(TABLE({t}), 'op', 'id', sequence_by => 'n')"
    val fed =
      new ChangelogStream(spark, StructType.fromDDL("id INT, v STRING, n BIGINT, op STRING"), sql)
    def outOfSequence(row: Row): Long = {
      fed.feed(Seq(row))
      val progress = fed.running.recentProgress.filter(_.numInputRows > 0).last
      progress.stateOperators.head.customMetrics.get("numRowsOutOfSequence")
    }
    try {
      fed.startAs("append", sql)
      assert(outOfSequence(Row(1, "b", 5L, "+U")) == 0L)
      assert(outOfSequence(Row(1, "a", 5L, "-U")) == 0L && fed.last.isEmpty)
      assert(outOfSequence(Row(1, "a", 4L, "-U")) == 1L && fed.last.isEmpty)
    } finally fed.stop()
  }

  /** The table after each micro-batch, also where state expires, and the batch query's at the end. */
  private def withSequence(
      batches: Seq[Seq[Row]],
      tables: Seq[String],
      columns: String = "id, v",
      schema: String = "id INT, v STRING, n BIGINT, op STRING",
      keys: String = "'id'"): Assertion = {
    def table(of: String) =
      s"SELECT $columns FROM from_changelog(TABLE($of), 'op', $keys, sequence_by => 'n')"
    Seq("0", "1h").foreach { ttl =>
      withConf(ChangelogConf.STATE_TTL.key -> ttl) {
        val fed = new ChangelogStream(spark, StructType.fromDDL(schema), table("{t}"))
        try {
          fed.startAs("complete", table("{t}"))
          batches.zip(tables).foreach { case (rows, wanted) =>
            fed.feed(rows)
            val found = fed.last.map(_.mkString(" ")).sorted.mkString(", ")
            assert(found == wanted, s"time to live $ttl")
          }
        } finally fed.stop()
      }
    }
    spark
      .createDataFrame(batches.flatten.asJava, StructType.fromDDL(schema))
      .coalesce(1)
      .createOrReplaceTempView("sides")
    val batch = spark.sql(table("sides")).collect().map(_.mkString(" ")).sorted.mkString(", ")
    assert(batch == tables.last)
  }
}
