package io.firesteel.changelog.statements

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.plan.share.SharedPlansExec

import org.apache.spark.sql.Row
import org.apache.spark.sql.firesteel.streaming.{StateStoreWriter, StreamingQueryWrapper}

/** One query that reads a view several times: the view has one state. */
class ReusedPartsSuite extends ChangelogSuite {

  private val sums = "SELECT k, count(*) AS n, sum(v) AS s FROM {t} GROUP BY k"
  private val batches = Seq(
    Seq(Row("a", 1), Row("a", 5), Row("b", 2), Row(null, 3)),
    Seq(Row("b", 9), Row("c", 1), Row("a", 7), Row("c", null)),
    Seq(Row("c", 8), Row("d", 4), Row(null, 6)))

  private def followed(sql: String, mode: String = "append"): ChangelogStream = {
    val fed = stream("k STRING, v INT", sql)
    def start() = if (mode == "append") fed.start() else fed.startAs(mode, sql)
    try {
      start()
      batches.zipWithIndex.foreach { case (rows, i) =>
        if (i == 2) {
          fed.stop()
          start()
        }
        fed.feed(rows)
        if (mode == "append") fed.difference.foreach(d => fail(s"$sql $d"))
        else assertSameRows(fed.last, fed.answer(), sql)
      }
    } finally fed.stop()
    fed
  }

  private def operators(fed: ChangelogStream): (Int, Int) = {
    val plan =
      fed.running.asInstanceOf[StreamingQueryWrapper].streamingQuery.lastExecution.executedPlan
    (
      plan.collect { case shared: SharedPlansExec => shared.parts.size }.sum,
      plan.collect { case _: StateStoreWriter => 1 }.sum)
  }

  private val union =
    s"WITH s AS ($sums) SELECT k, n FROM s WHERE s > 4 UNION ALL SELECT k, s FROM s WHERE n > 1"

  test("a union of one view with two filters has one state and one source") {
    val fed = followed(union)
    assert(operators(fed) == ((1, 1)))
    assert(fed.running.recentProgress.filter(_.numInputRows > 0).last.sources.length == 1)
  }

  test("self joins, groups of groups beside groups, complete mode") {
    Seq(
      s"WITH s AS ($sums) SELECT a.k, b.s FROM s a JOIN s b ON a.n = b.n" -> ((1, 2)),
      s"WITH s AS ($sums) SELECT a.k, b.k AS o, b.s FROM s a LEFT JOIN s b ON a.s < b.s" -> ((
        1,
        2)),
      s"WITH s AS ($sums) SELECT n, c FROM (SELECT n, count(*) AS c FROM s GROUP BY n) UNION ALL SELECT n, s FROM s" -> (
        (1, 2)),
      s"WITH s AS ($sums) SELECT k, s FROM s WHERE s = (SELECT max(s) FROM s)" -> ((1, 3)),
      s"WITH s AS ($sums), u AS (SELECT n, max(s) AS m FROM s GROUP BY n) SELECT s.k, x.m, y.m AS o FROM s " +
        "JOIN u x ON s.n = x.n LEFT JOIN u y ON s.n = y.m" -> ((2, 3))
    ).foreach { case (sql, wanted) =>
      val fed = followed(sql)
      assert(operators(fed) == wanted, sql)
    }
    val groups =
      s"WITH s AS ($sums) SELECT n, s FROM s UNION ALL SELECT n, count(*) AS c FROM s GROUP BY n"
    assert(operators(followed(groups, "complete")) == ((1, 3)))
  }

  test("columns that nothing reads are in no part") {
    val sql = s"WITH s AS ($sums) SELECT k FROM s UNION ALL SELECT upper(k) FROM s"
    val fed = stream("k STRING, v INT", sql)
    try {
      // The keys of groups only come: without kinds this is append mode.
      fed.startAs("append", s"SELECT *, '+I' AS op FROM ($sql)")
      batches.foreach(fed.feed)
      assert(operators(fed) == ((1, 1)))
      fed.difference.foreach(d => fail(d))
    } finally fed.stop()
  }

  test("what a filter above takes apart is no part") {
    Seq(
      "WITH r AS (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS n FROM {t}) SELECT k, v FROM r " +
        "WHERE n = 1 UNION ALL SELECT k, v FROM r WHERE n = 2",
      s"WITH s AS ($sums) SELECT a.k, a.s FROM s a JOIN s b ON a.n < b.s WHERE a.k = b.k AND a.n = 1 " +
        "UNION ALL SELECT a.k, a.s FROM s a JOIN s b ON a.n < b.s WHERE a.k = b.k AND a.n = 2"
    ).foreach { sql =>
      val plan = operators(followed(sql))
      assert(plan._1 == (if (sql.contains("row_number")) 0 else 1), sql)
    }
  }

  test("complete mode keeps rows that the watermark has passed") {
    def at(minute: Int, v: Int) = Row(new java.sql.Timestamp(minute * 60000L), v)
    val sql =
      "WITH w AS (SELECT window(ts, '1 minute').start AS s, count(*) AS n FROM {t} GROUP BY window(ts, '1 minute')), " +
        "g AS (SELECT n, count(*) AS c FROM w GROUP BY n) SELECT n, c FROM g UNION ALL SELECT n, unix_seconds(s) FROM w"
    val fed = new ChangelogStream(
      spark,
      org.apache.spark.sql.types.StructType.fromDDL("ts TIMESTAMP, v INT"),
      sql,
      watermark = Some("ts" -> "0 seconds"))
    try {
      fed.startAs("complete", sql)
      Seq(Seq(at(1, 1), at(9, 1)), Seq(at(1, 2)), Seq(at(1, 3), at(20, 1))).foreach { rows =>
        fed.feed(rows)
        assertSameRows(fed.last, fed.answer(), sql)
      }
    } finally fed.stop()
  }

  test("a checkpoint keeps what it began with, and the setting switches it off for new ones") {
    Seq(false, true).foreach { first =>
      val fed = stream("k STRING, v INT", union)
      def run(shares: Boolean, rows: Seq[Row]): Unit =
        withConf(ChangelogConf.REUSE_SUB_PLAN.key -> shares) {
          fed.start()
          fed.feed(rows)
          fed.difference.foreach(d => fail(d))
          assert(operators(fed)._1 == (if (first) 1 else 0))
          fed.stop()
        }
      run(first, batches.head)
      run(!first, batches(1))
    }
  }
}
