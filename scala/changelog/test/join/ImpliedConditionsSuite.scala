package io.firesteel.changelog.join

import io.firesteel.changelog.ChangelogSuite

import java.sql.Timestamp
import java.time.Instant

import org.apache.spark.sql.{Encoders, Row}
import org.apache.spark.sql.firesteel.streaming.memoryStream

/**
 * Conditions that are implied by others stand below a join: the answer is the batch query's, and the
 * join keeps what may meet.
 */
class ImpliedConditionsSuite extends ChangelogSuite {

  private val schema = "s STRING, k INT, d DOUBLE, n STRING, v BIGINT"
  private val a = "(SELECT k, d, n, v FROM {t} WHERE s = 'a') a"
  private val b = "(SELECT k AS bk, d AS bd, n AS bn, v AS bv FROM {t} WHERE s = 'b') b"

  private val batches = Seq(
    Seq("a", "b").flatMap(s => (1 to 4).map(k => Row(s, k, k / 2.0, s"n$k", 10L * k))),
    Seq(
      Row("a", null, 0.0, null, null),
      Row("b", null, -0.0, null, null),
      Row("a", 5, 0.0, "N1", 0L)),
    Seq(
      Row("b", 5, -0.0, "n1", 0L),
      Row("b", 1, Double.NaN, "n9", 5L),
      Row("a", 2, null, "n2", 20L)),
    Seq(Row("b", 9, 1.0, "n1", 3L))
  )

  /** Joins with the number of different keys of both sides that they keep of `batches`. */
  private val kept = Seq(
    s"$a JOIN $b ON k = bk WHERE k > 3" -> 3,
    s"$a JOIN $b ON k = bk AND k > 3 AND bk < 5" -> 1,
    s"$a JOIN $b ON k <=> bk WHERE bk IS NULL OR bk = 2" -> 2,
    s"$a JOIN $b ON k = bk WHERE n = 'n1' AND bn = 'n1' OR n = 'n2' AND bn = 'n2'" -> 4,
    s"$a JOIN $b ON k = bk AND (n = 'n1' AND bv < 20 OR v = 20 AND bn = 'n2')" -> 4,
    s"$a LEFT JOIN $b ON k = bk AND k = 3" -> 5,
    s"$a LEFT JOIN $b ON k = bk WHERE k IN (3, 4)" -> 2,
    s"$a LEFT SEMI JOIN $b ON k = bk WHERE k = 1" -> 1,
    s"$a LEFT SEMI JOIN (SELECT * FROM $b WHERE bk > 3) c ON k = bk AND bk < 6" -> 2,
    s"$a LEFT ANTI JOIN $b ON k = bk AND k < 3" -> 5,
    s"$b RIGHT JOIN $a ON k = bk AND (v = 10 AND bv = 10 OR v = 20 AND bv > 10)" -> 5
  )

  kept.foreach { case (from, rows) =>
    test(from) {
      val sql =
        s"SELECT ${if (from.contains(" SEMI ") || from.contains(" ANTI ")) "k, v" else "*"} FROM $from"
      assertFollows(schema, sql, batches, restarts = Set(1))
      withConf("spark.sql.shuffle.partitions" -> 1) {
        val fed = stream(schema, sql)
        fed.start()
        try {
          batches.foreach(fed.feed)
          assert(fed.running.lastProgress.stateOperators.head.numRowsTotal == rows)
        } finally fed.stop()
      }
    }
  }

  test("columns that are equal and yet differ, and conditions that may fail") {
    Seq(
      s"$a JOIN $b ON d = bd WHERE d <= 0",
      s"$a JOIN $b ON n COLLATE UTF8_LCASE = bn COLLATE UTF8_LCASE WHERE n = 'N1'",
      "(SELECT n COLLATE UTF8_LCASE AS n, v FROM {t} WHERE s = 'a') a " +
        "JOIN (SELECT n COLLATE UTF8_LCASE AS bn FROM {t} WHERE s = 'b') b ON n = bn WHERE hex(n) = '4E31'",
      s"$a JOIN $b ON k = bk AND v > 0 AND 100 / v > 2 WHERE bv > 0",
      s"$a FULL JOIN $b ON k = bk AND k > 2 AND bn = 'n3'",
      s"$a LEFT JOIN $b ON k = bk AND v > 10 OR n = bn AND bv < 5",
      "(SELECT k, count(*) AS c FROM {t} WHERE s = 'a' GROUP BY k) a " +
        "JOIN (SELECT k AS bk, count(*) AS bc FROM {t} WHERE s = 'b' GROUP BY k) b " +
        "ON c = bc AND (k = 1 AND bk < 3 OR k = 2 AND bk > 1) WHERE c = 1"
    ).foreach(from => assertFollows(schema, s"SELECT * FROM $from", batches, restarts = Set(2)))
  }

  test("a column of CHAR, which Spark pads what it is compared with") {
    spark.sql("DROP TABLE IF EXISTS padded")
    spark.sql("CREATE TABLE padded (c CHAR(5)) USING parquet")
    try {
      spark.sql("INSERT INTO padded VALUES ('n1'), ('n2')")
      val rows = Seq(Seq(Row("a", 1, 0.0, "n1   ", 1L)), Seq(Row("a", 1, 0.0, "n2", 1L)))
      assertFollows(
        schema,
        "SELECT c, count(*) AS m FROM {t} JOIN padded ON c = n WHERE n <> 'n1' GROUP BY c",
        rows)
    } finally { val _ = spark.sql("DROP TABLE padded") }
  }

  test("a watermark is moved by rows that a condition of the other side would leave out") {
    val sides = Seq("implied_a", "implied_b").map { name =>
      val side = memoryStream(spark)(Encoders.tuple(Encoders.TIMESTAMP, Encoders.scalaInt))
      side.toDF().toDF("ts", "k").withWatermark("ts", "0 seconds").createOrReplaceTempView(name)
      side
    }
    def at(minute: Int) = Timestamp.valueOf(f"2026-03-01 10:$minute%02d:00")
    val query = spark.sql(
      "SELECT a.k, b.ts, row_kind() AS op FROM implied_a a JOIN implied_b b ON a.k = b.k " +
        "AND b.ts BETWEEN a.ts AND a.ts + INTERVAL '5' MINUTE WHERE a.k = 1"
    ).writeStream.format("noop").outputMode("append").start()
    try {
      Seq(1 -> 1, 20 -> 2, 21 -> 2).foreach { case (minute, k) =>
        sides.zip(Seq(1, k)).foreach { case (side, key) => side.addData((at(minute), key)) }
        query.processAllAvailable()
      }
      val reached = Instant.parse(query.lastProgress.eventTime.get("watermark"))
      assert(reached.isAfter(at(15).toInstant))
    } finally query.stop()
  }

  test("a view that is joined with itself is computed once") {
    val view = s"(SELECT * FROM $a JOIN $b ON k = bk)"
    val fed =
      stream(
        schema,
        s"WITH j AS $view SELECT x.k, y.bv FROM j x JOIN j y ON x.k = y.k WHERE x.k > 1")
    fed.start()
    try {
      fed.feed(batches.head)
      assert(fed.running.lastProgress.stateOperators.length == 2)
    } finally fed.stop()
  }

  test("three streams and a table, of which one column has a condition") {
    spark.range(9).selectExpr("CAST(id AS INT) AS nk", "concat('n', id) AS nn")
      .createOrReplaceTempView("numbered_names")
    assertFollows(
      schema,
      s"SELECT * FROM $a, $b, (SELECT k AS ck, v AS cv FROM {t} WHERE s = 'a') c, numbered_names " +
        "WHERE k = bk AND bk = ck AND ck = nk AND (nk = 1 OR nk = 4) " +
        "AND (nn = 'n1' AND v = 10 OR nn = 'n4')",
      batches
    )
  }

  test("a condition behind a user's function is asked of groups that it lets pass") {
    val _ = spark.udf.register("is_number", (k: String) => k != null && k.forall(_.isDigit))
    val numbers = "SELECT k, count(*) AS n FROM {t} GROUP BY k"
    val conditions = "is_number(k) AND CAST(k AS INT) > 5"
    assertFollows(
      "k STRING, v INT",
      s"SELECT * FROM ($numbers) WHERE $conditions",
      Seq(Seq(Row("7", 1), Row("abc", 2), Row("3", 3)), Seq(Row("abc", 4), Row("7", 5))))
  }
}
