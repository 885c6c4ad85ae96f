package io.firesteel.tests

import io.firesteel.FiresteelExtensions
import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}

import java.sql.Timestamp

import scala.util.Random

import org.apache.spark.sql.{AnalysisException, Row, SparkSessionExtensions}
import org.apache.spark.sql.types.StructType

/**
 * Joins with a stream as it was at a row's time, whose clause one room parses and another one plans,
 * and as it is in a row's micro-batch.
 */
class TemporalJoinSuite extends ChangelogSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit =
    new FiresteelExtensions().apply(extensions)

  private val schema =
    StructType.fromDDL("ts TIMESTAMP, input STRING, k STRING, v INT, seq INT, op STRING")
  private val start = Timestamp.valueOf("2026-01-01 12:00:00").getTime

  private def at(second: Int) = new Timestamp(start + second * 1000L)

  private val orders = "(SELECT ts, k, v AS id FROM {t} WHERE input = 'l')"
  private val history = "(SELECT * FROM {t} WHERE input = 'r')"
  private val newest =
    "(SELECT k AS currency, v AS rate, ts AS since FROM (SELECT *, row_number() OVER " +
      s"(PARTITION BY k ORDER BY ts DESC, seq DESC) AS place FROM $history) WHERE place = 1)"

  private def random(seed: Int): Seq[Seq[Row]] = {
    val random = new Random(seed)
    var seq = 0
    Seq.tabulate(6) { batch =>
      Seq.fill(random.nextInt(30)) {
        seq += 1
        Row(
          at(batch * 10 + random.nextInt(15)),
          if (random.nextBoolean()) "l" else "r",
          if (random.nextInt(8) == 0) null else "abcd".substring(random.nextInt(4)).take(1),
          seq,
          seq,
          if (random.nextInt(4) == 0) "-D" else "+U"
        )
      }
    } :+ Seq(Row(at(2000), "r", "z", 0, seq + 1, "+U"), Row(at(2000), "l", "z", 0, seq + 2, "+U"))
  }

  /** The rows of a temporal join, from a model: whose left time the watermark has reached. */
  private def model(
      rows: Seq[Row],
      watermark: Timestamp,
      isLeft: Boolean,
      deletes: Boolean,
      passes: (Row, Row) => Boolean,
      ofFirst: Boolean): Seq[String] =
    rows.filter(r => r.getString(1) == "l" && !r.getTimestamp(0).after(watermark)).flatMap { l =>
      val versions = rows
        .filter(r =>
          r.getString(1) == "r" && r.getString(2) != null && r.getString(2) == l.getString(2))
        .filterNot(_.getTimestamp(0).after(l.getTimestamp(0)))
      def order(r: Row) = (r.getTimestamp(0).getTime, r.getInt(4))
      val version = (if (ofFirst) versions.minByOption(order) else versions.maxByOption(order))
        .filter(r => !deletes || r.getString(5) != "-D")
        .filter(passes(l, _))
      version match {
        case Some(r) =>
          Some(Row(l.getInt(3), l.getString(2), r.getInt(3), r.getTimestamp(0)).toString)
        case None if isLeft => Some(Row(l.getInt(3), l.getString(2), null, null).toString)
        case None => None
      }
    }.sorted

  private def follows(
      versions: String,
      isLeft: Boolean,
      deletes: Boolean = false,
      condition: String = "",
      passes: (Row, Row) => Boolean = (_, _) => true,
      mode: String = "append",
      ofFirst: Boolean = false): Unit = {
    val sql =
      s"""WITH rates AS $versions
         |SELECT o.id, o.k, r.rate, r.since FROM $orders o ${if (isLeft) "LEFT" else ""} JOIN rates
         |FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.currency $condition""".stripMargin
    // With the second seed each row is written by itself.
    val limits = Seq(4000000, 1).map("spark.firesteel.changelog.maxBufferedRows" -> _)
    for ((limit, seed) <- limits.zip(1 to 2)) withConf(limit) {
      val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "5 seconds"))
      val text = s"SELECT *, '+I' AS op FROM ($sql)"
      fed.startAs(mode, text)
      val told = Seq.newBuilder[Row]
      try random(seed).zipWithIndex.foreach { case (rows, i) =>
          if (i % 2 == 1) {
            fed.stop()
            fed.startAs(mode, text)
          }
          fed.feed(rows)
          told ++= rows
          val watermark = Timestamp.from(
            java.time.Instant.parse(fed.running.lastProgress.eventTime.get("watermark")))
          assert(
            fed.emitted.map(r => Row.fromSeq(r.toSeq.init).toString).sorted ==
              model(told.result(), watermark, isLeft, deletes, passes, ofFirst),
            s"seed $seed, micro-batch $i"
          )
        }
      finally fed.stop()
    }
  }

  providers.foreach { provider =>
    test(s"each row takes the version of its time, ${provider.split('.').last}") {
      withProvider(provider) {
        follows(newest, isLeft = false)
        follows(newest, isLeft = true, mode = "update")
      }
    }
  }

  test("conditions of the join and of the versions") {
    follows(
      newest,
      isLeft = true,
      condition = "AND o.id > r.rate",
      passes = (l, r) => l.getInt(3) > r.getInt(3))
    follows(
      s"(SELECT * FROM $newest WHERE rate % 3 > 0)",
      isLeft = true,
      passes = (_, r) => r.getInt(3) % 3 > 0)
  }

  test("a key of a smaller whole number than the left side's") {
    val sql =
      s"""WITH rates AS (${newest.replace("k AS currency", "v AS number").replace("BY k ", "BY v ")})
      |SELECT o.n, r.rate FROM (SELECT ts, IF(v = 2, 5000000000, v) AS n FROM {t} WHERE input = 'l') o
      |LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.n = r.number""".stripMargin
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
    fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
    def row(second: Int, input: String, v: Int) = Row(at(second), input, null, v, second, "+U")
    try {
      fed.feed(Seq(row(1, "r", 1), row(2, "r", 705032704), row(3, "l", 1), row(4, "l", 2)))
      Seq(10, 11).foreach(s => fed.feed(Seq(row(s, "l", 7), row(s, "r", 7))))
      val told = fed.emitted.map(r => (r.get(0), r.get(1))).toSet
      assert(told.contains((1L, 1)) && told.contains((5000000000L, null)))
    } finally fed.stop()
  }

  test("the first row of each key is valid from its time on") {
    val first = newest.replace("ts DESC, seq DESC", "ts, seq")
    follows(first, isLeft = false, ofFirst = true)
    follows(first, isLeft = true, ofFirst = true)
  }

  test("rows of the left side change until their time") {
    val rows = "TABLE(SELECT ts, k, v AS id, op FROM {t} WHERE input = 'l'), op => 'op'"
    Seq("", ", keys => array('id')").zip(providers).foreach { case (keys, provider) =>
      withProvider(provider) {
        val sql = s"WITH rates AS $newest SELECT o.id, o.k, r.rate FROM (SELECT * FROM " +
          s"from_changelog($rows$keys)) o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.currency"
        val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "5 seconds"))
        val text = s"SELECT *, '+I' AS op FROM ($sql)"
        fed.startAs("append", text)
        def left(second: Int, id: Int, k: String, op: String) =
          Row(at(second), "l", k, id, 0, op)
        try {
          fed.feed(Seq(
            Row(at(1), "r", "a", 5, 1, "+U"),
            left(2, 1, "a", "+I"),
            left(3, 2, "a", "+I"),
            left(3, 4, "b", "+I")))
          fed.stop()
          fed.startAs("append", text)
          fed.feed(Seq(
            left(2, 1, "a", "-D"),
            left(3, 2, "a", "-U"),
            left(4, 2, "b", "+U"),
            left(4, 3, "a", "+I"),
            left(4, 5, "a", "+I"),
            left(4, 5, "a", "-D")))
          fed.feed(Seq(Row(at(90), "r", "z", 0, 3, "+U")))
          fed.feed(Seq(left(4, 3, "a", "-D"))) // late
          fed.feed(Nil)
          assert(fed.emitted.map(_.toString).sorted ==
            Seq("[2,b,null,+I]", "[3,a,5,+I]", "[4,b,null,+I]"))
        } finally fed.stop()
      }
    }
    val whole =
      "WITH rates AS (SELECT v AS rate FROM (SELECT *, row_number() OVER (ORDER BY ts DESC, seq DESC) " +
        s"AS place FROM $history) WHERE place = 1) SELECT o.id, r.rate FROM (SELECT * FROM " +
        s"from_changelog($rows)) o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON true"
    val fed = new ChangelogStream(spark, schema, whole, watermark = Some("ts" -> "5 seconds"))
    fed.startAs("append", s"SELECT *, '+I' AS op FROM ($whole)")
    try {
      fed.feed(Seq(
        Row(at(1), "r", "a", 5, 1, "+U"),
        Row(at(2), "l", "a", 1, 0, "+I"),
        Row(at(2), "l", "a", 2, 0, "+I"),
        Row(at(2), "l", "a", 2, 0, "-D")))
      fed.feed(Seq(Row(at(90), "r", "z", 0, 3, "+U")))
      fed.feed(Nil)
      assert(fed.emitted.map(_.toString) == Seq("[1,5,+I]"))
    } finally fed.stop()
  }

  test("versions in a SQL view") {
    val sql =
      s"SELECT o.id, r.rate FROM $orders o JOIN rates_in_a_view FOR SYSTEM_TIME AS OF o.ts " +
        "AS r ON o.k = r.currency"
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "5 seconds"))
    spark.sql(fed.reading(s"CREATE OR REPLACE TEMPORARY VIEW rates_in_a_view AS $newest"))
    fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
    try {
      fed.feed(Seq(Row(at(1), "r", "a", 5, 1, "+U"), Row(at(2), "l", "a", 7, 2, "+U")))
      fed.feed(Seq(Row(at(90), "r", "z", 0, 3, "+U")))
      fed.feed(Nil)
      assert(fed.emitted.map(r => (r.getInt(0), r.getInt(1))).toSeq == Seq((7, 5)))
    } finally fed.stop()
  }

  test("versions of a changelog, which end with a deletion") {
    val source = s"(SELECT ts, k AS currency, v AS rate, seq, op, ts AS since FROM $history)"
    val versions =
      s"(SELECT currency, rate, since FROM from_changelog(TABLE($source), op => 'op', " +
        "keys => array('currency'), sequence_by => array('ts', 'seq')))"
    follows(versions, isLeft = true, deletes = true)
  }

  test("an update that moves a row to another key ends the old key's version") {
    val source = s"(SELECT ts, k AS currency, v AS rate, seq, op FROM $history)"
    val sql =
      s"WITH ver AS (SELECT currency, rate FROM from_changelog(TABLE($source), op => 'op', " +
        "keys => array('currency'), sequence_by => array('ts', 'seq'))) " +
        s"SELECT o.id, o.k, r.rate FROM $orders o LEFT JOIN ver " +
        "FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.currency"
    providers.foreach { provider =>
      withProvider(provider) {
        val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "0 seconds"))
        fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
        def change(second: Int, k: String, rate: Int, op: String) =
          Row(at(second), "r", k, rate, second, op)
        def order(second: Int, k: String, id: Int) = Row(at(second), "l", k, id, 0, "")
        try {
          fed.feed(Seq(change(1, "tea", 2, "+I"), change(1, "milk", 1, "+I")))
          fed.feed(Seq(
            change(10, "tea", 2, "-U"),
            change(10, "chai", 2, "+U"),
            change(12, "milk", 3, "+U"),
            // With its own old time, and a later sequence.
            Row(at(1), "r", "milk", 1, 12, "-U"),
            order(11, "milk", 6),
            order(9, "tea", 1),
            order(20, "tea", 2),
            order(20, "chai", 3),
            order(20, "milk", 4)
          ))
          fed.feed(Seq(change(90, "x", 0, "+I"), order(90, "x", 5)))
          fed.feed(Nil)
          assert(
            fed.emitted.map(r => r.getInt(0) -> Option(r.get(2))).toSet ==
              Set(1 -> Some(2), 2 -> None, 3 -> Some(2), 4 -> Some(3), 5 -> Some(0), 6 -> Some(1)))
        } finally fed.stop()
      }
    }
  }

  test("versions of the stream itself are told apart from its rows") {
    val sql =
      """WITH ver AS (SELECT x.k AS k, x.v AS v, x.ts AS ts FROM (SELECT *, row_number() OVER
        |(PARTITION BY k ORDER BY ts DESC) AS place FROM {t}) x WHERE place = 1)
        |SELECT o.k, o.v, r.v AS rv, r.ts AS since FROM {t} o JOIN ver FOR SYSTEM_TIME AS OF o.ts AS r
        |ON o.k = r.k AND o.v > 0""".stripMargin
    val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "5 seconds"))
    fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
    def one(second: Int, v: Int) = Row(at(second), "l", "a", v, v, "+U")
    try {
      // Each row is the version of its own time.
      fed.feed(Seq(one(1, 1), one(5, 2), one(9, 3)))
      fed.feed(Seq(one(100, 4)))
      assert(fed.emitted.map(_.getInt(1)).sorted == Seq(1, 2, 3))
      assert(fed.emitted.forall(r => r.getInt(1) == r.getInt(2)))
      fed.feed(Seq(one(99, -1), one(98, 5), one(300, 6)))
      assert(fed.last.map(r => r.getInt(1) -> r.getInt(2)).toSet == Set(4 -> 4, 5 -> 5))
    } finally fed.stop()
  }

  test("a snapshot join meets what the changing table has in the row's micro-batch") {
    val sums = s"(SELECT k, sum(v) AS s, count(*) AS n FROM $history GROUP BY k)"
    Seq("JOIN", "LEFT JOIN").foreach { join =>
      val sql =
        s"SELECT o.id, o.k, r.s FROM $orders o $join SNAPSHOT(TABLE($sums)) r ON o.k = r.k AND r.n > 1"
      val fed = new ChangelogStream(spark, schema, sql)
      fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
      val told = Seq.newBuilder[Row]
      try random(5).zipWithIndex.foreach { case (rows, i) =>
          if (i == 3) {
            fed.stop()
            fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
          }
          fed.feed(rows)
          told ++= rows
          val table = told.result().filter(_.getString(1) == "r").groupBy(_.getString(2)).collect {
            case (k, its) if k != null && its.size > 1 => k -> its.map(_.getInt(3).toLong).sum
          }
          val expected = rows.filter(_.getString(1) == "l").flatMap { l =>
            table.get(l.getString(2)).map(s => Row(l.getInt(3), l.getString(2), s).toString).orElse(
              Option.when(join != "JOIN")(Row(l.getInt(3), l.getString(2), null).toString))
          }
          assert(
            fed.last.map(r => Row.fromSeq(r.toSeq.init).toString).sorted == expected.sorted,
            s"$join, micro-batch $i")
        }
      finally fed.stop()
    }
  }

  test("a WHERE does not move a snapshot join before other joins") {
    def row(input: String, v: Int) = Row(at(1), input, "a", v, 0, "+U")
    val sums = s"(SELECT k, sum(v) AS s FROM $history GROUP BY k)"
    val sql =
      s"SELECT o.id, b.u, r.s FROM $orders o JOIN (SELECT v AS u FROM {t} WHERE input = 'b') b " +
        s"ON o.id < b.u JOIN SNAPSHOT(TABLE($sums)) r ON o.k = r.k"
    Seq("", " WHERE o.id > 0", " WHERE o.id > 0 AND b.u > 0").foreach { filter =>
      val fed = new ChangelogStream(spark, schema, sql + filter)
      fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql$filter)")
      val told = Seq.newBuilder[Row]
      try Seq(
          Seq(row("l", 1), row("r", 1)),
          Seq(row("b", 5), row("r", 1)),
          Seq(row("l", 2), row("r", 1))).foreach { rows =>
          fed.feed(rows)
          told ++= fed.last
        }
      finally fed.stop()
      assert(told.result() == Seq(Row(1, 5, 2L, "+I"), Row(2, 5, 3L, "+I")), filter)
    }
  }

  test("what is no temporal or snapshot join is refused") {
    def refused(sql: String): String = {
      val fed = new ChangelogStream(spark, schema, sql, watermark = Some("ts" -> "5 seconds"))
      intercept[AnalysisException](fed.startAs(
        "append",
        s"SELECT *, '+I' AS op FROM ($sql)")).getMessage
    }
    def join(time: String, condition: String, kind: String = "") =
      s"WITH rates AS $newest SELECT o.id FROM $orders o $kind JOIN rates " +
        s"FOR SYSTEM_TIME AS OF $time AS r ON $condition"
    assert(refused(join("o.ts", "o.id = r.rate")).contains("no equality with the key"))
    assert(refused(join("o.ts", "o.k = r.currency", "LEFT ANTI")).nonEmpty)
    assert(
      refused(s"WITH h AS $history SELECT o.id FROM $orders o JOIN h FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k")
        .contains("newest row of each key"))
    assert(refused(s"SELECT k FROM SNAPSHOT(TABLE($history))").contains("SNAPSHOT"))
  }
}
