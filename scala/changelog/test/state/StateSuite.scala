package io.firesteel.changelog.state

import io.firesteel.changelog.ChangelogSuite
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.testkit.{SinceSpark, Warnings}
import java.nio.file.{Files, Path}

import org.apache.spark.sql.{DataFrame, Encoders, Row}
import org.apache.spark.sql.firesteel.streaming.{memoryStream, MemoryStream}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StreamingQueryException
import org.apache.spark.sql.types.StructType

/** The state that a checkpoint has: who may go on with it, and who reads it. */
class StateSuite extends ChangelogSuite {

  private val schema = "k STRING, v INT"
  private val rows = Seq(Row("a", 1), Row("a", 2), Row("b", 3))

  /**
   * The error of a query on the checkpoint of another one that was fed.
   *
   * @param recorded whether the checkpoint has the operator's record, as all have since operators are recorded
   */
  private def changed(before: String, after: String, recorded: Boolean = true): String = {
    val fed = stream(schema, before)
    try {
      fed.startAs("append", s"SELECT *, row_kind() AS op FROM ($before)")
      fed.feed(rows)
      fed.stop()
      if (!recorded) {
        Files.delete(
          Path.of(fed.checkpoint.stripPrefix("file:")).resolve("state/0/_metadata/firesteel"))
      }
      fed.startAs("append", s"SELECT *, row_kind() AS op FROM ($after)")
      intercept[Exception](fed.feed(rows)).getMessage
    } finally fed.stop()
  }

  test("a time to live of a query that Spark runs by itself is warned of") {
    def warned(sql: String): Boolean = {
      val fed = stream(schema, sql)
      withConf(ChangelogConf.STATE_TTL.key -> "1d") {
        try Warnings.of(fed.startAs("update", sql)).exists(_.contains(ChangelogConf.STATE_TTL.key))
        finally fed.stop()
      }
    }
    assert(warned("SELECT k, count(*) AS n FROM {t} GROUP BY k"))
    assert(!warned("SELECT k, v + 1 AS w FROM {t}"))
    val few = "(SELECT DISTINCT id % 3 AS id FROM range(9))"
    assert(!warned(s"SELECT k, v FROM {t} JOIN $few d ON v = d.id"))
    assert(!warned("SELECT k, count(DISTINCT v) AS n FROM {t} GROUP BY k"))
  }

  test("a changed query is refused, naming operator and calls") {
    val text = changed(
      "SELECT k, sum(DISTINCT v) AS s FROM {t} GROUP BY k",
      "SELECT k, sum(DISTINCT CAST(v AS BIGINT)) AS s FROM {t} GROUP BY k")
    assert(text.contains("FIRESTEEL_CHANGELOG_STATE_MISMATCH"))
    assert(text.contains("ChangelogAggregate") &&
      text.contains("calls [distinct sum(v)] is now [distinct sum(cast(v as bigint))]"))
  }

  test("a variable of the session is its value") {
    spark.sql("DECLARE OR REPLACE VARIABLE least INT DEFAULT 1")
    val sql = "SELECT k, c FROM (SELECT k, count(*) AS c FROM {t} GROUP BY k) WHERE c > least"
    val fed = stream(schema, sql)
    try {
      fed.start()
      fed.feed(rows)
      fed.stop()
      spark.sql("SET VAR least = 5")
      fed.start()
      assert(intercept[Exception](fed.feed(rows)).getMessage.contains("STATE_MISMATCH"))
      spark.sql("SET VAR least = 1")
      fed.start()
      fed.feed(rows)
    } finally {
      fed.stop()
      val _ = spark.sql("DROP TEMPORARY VARIABLE least")
    }
  }

  test("in a checkpoint without a record the error names columns and types") {
    val text = changed(
      "SELECT k, sum(DISTINCT v) AS s FROM {t} GROUP BY k",
      "SELECT k, sum(DISTINCT CAST(v AS BIGINT)) AS s FROM {t} GROUP BY k",
      recorded = false)
    assert(text.contains("FIRESTEEL_CHANGELOG_STATE_MISMATCH"))
    assert(text.contains("values_int: BINARY is now aggregate_values_bigint"), text)
  }

  test("another aggregate of the same type is refused too") {
    val text = changed(
      "SELECT k, count(DISTINCT v) AS s FROM {t} GROUP BY k",
      "SELECT k, count(v) AS s FROM {t} GROUP BY k")
    assert(text.contains("FIRESTEEL_CHANGELOG_STATE_MISMATCH"))
  }

  test("a Top-N with a larger n is refused: the rows that it needs were dropped") {
    def top(n: Int) =
      s"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS rn FROM {t}) WHERE rn <= $n"
    val text = changed(top(2), top(3))
    assert(text.contains("FIRESTEEL_CHANGELOG_STATE_MISMATCH") &&
      text.contains("places [ROW_NUMBER from 1 to 2] is now [ROW_NUMBER from 1 to 3]"))
  }

  test("a Top-N that begins at another place is refused: other rows have been told") {
    def sorted(limit: String) = s"SELECT k, v FROM {t} ORDER BY v LIMIT $limit"
    val text = changed(sorted("2 OFFSET 1"), sorted("3"))
    assert(text.contains("FIRESTEEL_CHANGELOG_STATE_MISMATCH") &&
      text.contains("places [ROW_NUMBER from 2 to 3] is now [ROW_NUMBER from 1 to 3]"))
  }

  test("a Top-N in another order is refused: the rows that come first then were dropped") {
    def top(order: String, n: Int, from: String) =
      s"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY $order) AS rn FROM $from) WHERE rn <= $n"
    val counts = "(SELECT k, v, count(*) AS c FROM {t} GROUP BY k, v)"
    for {
      n <- Seq(1, 3)
      from <- Seq("{t}", counts)
      (before, after) <-
        Seq("v DESC" -> "v", "v" -> "v NULLS LAST") ++ Seq("c DESC" -> "v DESC").filter(_ =>
          from == counts)
    } {
      val text = changed(top(before, n, from), top(after, n, from))
      assert(text.contains("FIRESTEEL_CHANGELOG_STATE_MISMATCH"), s"$n $from $before $after")
    }
  }

  SinceSpark("4.1") { // the type TIME
    test("times of day are kept") {
      withConf("spark.sql.timeType.enabled" -> true) {
        assertFollows(
          "h INT, v INT",
          "SELECT t, max(v) AS m FROM (SELECT make_time(h, 0, 0) AS t, v FROM {t}) GROUP BY t",
          Seq(Seq(Row(1, 1), Row(2, 5)), Seq(Row(1, 3))),
          restarts = Set(1)
        )
      }
    }
  }

  test("another number of parts of distinct values is refused: they lie elsewhere") {
    val sql = "SELECT k, count(DISTINCT v) AS c FROM {t} GROUP BY k"
    val fed = stream(schema, sql)
    try {
      withConf(ChangelogConf.DISTINCT_BUCKETS.key -> 32) {
        fed.start()
        fed.feed(rows)
        fed.restart()
        fed.feed(rows)
        assert(fed.difference.isEmpty)
      }
      fed.stop()
      withConf(ChangelogConf.DISTINCT_BUCKETS.key -> 16) {
        fed.start()
        val text = intercept[Exception](fed.feed(rows)).getMessage
        assert(
          text.contains("aggregate_key_1_of_32] is now [aggregate_key_0, aggregate_key_1_of_16]"),
          text)
      }
    } finally fed.stop()
  }

  test("a restart with other shuffle partitions goes on with those of the checkpoint") {
    providers.foreach { provider =>
      withProvider(provider) {
        val fed =
          stream(
            schema,
            "SELECT c, count(*) AS n FROM (SELECT k, count(*) AS c FROM {t} GROUP BY k) GROUP BY c")
        try {
          fed.start()
          fed.feed(rows)
          withConf(SQLConf.SHUFFLE_PARTITIONS.key -> 5) {
            fed.restart()
            fed.feed(rows :+ Row("c", 1))
            assert(fed.difference.isEmpty)
          }
        } finally fed.stop()
      }
    }
  }

  test("a query without state is read as it was, after a restart") {
    val fed = stream(schema, "SELECT k, v FROM (SELECT * FROM {t} ORDER BY v) WHERE v > 0")
    try {
      fed.start()
      fed.feed(rows)
      fed.restart()
      fed.feed(rows)
      assert(fed.difference.isEmpty)
    } finally fed.stop()
  }

  test("a micro-batch whose sink failed is told again, the same") {
    providers.foreach { provider =>
      withProvider(provider) {
        val sql =
          "SELECT c, max(k) AS m FROM (SELECT k, count(*) AS c FROM {t} GROUP BY k) GROUP BY c"
        val fed = stream(schema, sql)
        try {
          fed.start()
          fed.feed(rows)
          fed.failsNext = true
          val _ = intercept[StreamingQueryException](fed.feed(Seq(Row("b", 1), Row("c", 1))))
          val lost = fed.last
          fed.restart()
          fed.feed(Seq(Row("c", 1)))
          assert(lost.nonEmpty && fed.emitted.map(_.toString).containsSlice(lost.map(_.toString)))
          assert(fed.difference.isEmpty)
        } finally fed.stop()
      }
    }
  }

  test("a stream of a union that has nothing new changes nothing in the state of the other") {
    val (one, other) = (new Fed("idle_one"), new Fed("idle_other"))
    val emitted = scala.collection.mutable.ArrayBuffer.empty[Row]
    // The optimizer sees that v and w are one column only where there are rows to read.
    val query = spark.sql(
      """SELECT k, sum(v) AS s, sum(w) AS t, min(w) AS m, row_kind() AS op FROM (
        |  SELECT k, v, v AS w FROM (SELECT * FROM idle_one UNION ALL SELECT * FROM idle_other))
        |GROUP BY k""".stripMargin).writeStream.outputMode("append")
      .foreachBatch { (batch: DataFrame, _: Long) =>
        val _ = emitted ++= batch.collect()
      }
      .start()
    try {
      Seq(one -> 1, other -> 2, one -> 3).foreach { case (stream, v) =>
        stream.input.addData(Row("a", v))
        query.processAllAvailable()
      }
      assert(emitted.last == Row("a", 6L, 6L, 1, "+U"))
    } finally query.stop()
  }

  final private class Fed(name: String) {
    val input: MemoryStream[Row] =
      memoryStream[Row](spark)(Encoders.row(StructType.fromDDL(schema)))
    input.toDF().createOrReplaceTempView(name)
  }

  test("Spark's own reader of state shows groups, with names that begin with the operator's") {
    val fed = stream(schema, "SELECT k, sum(DISTINCT v) AS s, count(*) AS n FROM {t} GROUP BY k")
    try {
      fed.start()
      fed.feed(rows)
      val state = spark.read.format("statestore").load(fed.checkpoint)
      val groups =
        state.selectExpr("key.aggregate_key_0 AS k", "key.aggregate_set AS set", "value.*")
          .where("set = -1").select("k", "aggregate_rows_count").collect().toSeq
      assertSameRows(groups, Seq(Row("a", 2L), Row("b", 1L)), "groups in state")
    } finally fed.stop()
  }

  providers.foreach { provider =>
    test(s"Spark's own reader of state shows the rows of a Top-N, ${provider.split('.').last}") {
      withProvider(provider) {
        val fed = stream(
          schema,
          "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS rn FROM {t}) WHERE rn <= 2")
        try {
          fed.start()
          fed.feed(Seq(Row("a", 3), Row("a", 1), Row("a", 2), Row("b", 7)))
          val state = spark.read.format("statestore").load(fed.checkpoint)
          assertSameRows(
            state.selectExpr("key.topn_partition_0", "key.topn_column_0").collect().toSeq,
            Seq(Row("a", 1), Row("a", 2), Row("b", 7)),
            "rows in state")
        } finally fed.stop()
      }
    }
  }

  test("checkpoints of version 2 are kept and read again") {
    withConf(
      SQLConf.STATE_STORE_PROVIDER_CLASS.key -> rocksDb,
      SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> 2) {
      assertFollows(
        schema,
        "SELECT c, max(k) AS m FROM (SELECT k, count(*) AS c FROM {t} GROUP BY k) GROUP BY c",
        Seq(rows, rows, Seq(Row("c", 1))),
        restarts = Set(1, 2))
    }
  }

  private def withTtl[T](milliseconds: Long)(body: => T): T =
    withConf(ChangelogConf.STATE_TTL.key -> s"${milliseconds}ms")(body)

  providers.foreach { provider =>
    test(
      s"state that nobody has written for its time is as if it had never been, ${provider.split('.').last}") {
      withProvider(provider)(withTtl(4000) {
        val fed =
          stream(schema, "SELECT k, count(*) AS c, count(DISTINCT v) AS d FROM {t} GROUP BY k")
        try {
          fed.start()
          fed.feed(Seq(Row("a", 1), Row("b", 1)))
          fed.feed(Seq(Row("b", 2)))
          assert(fed.last.map(_.toString) == Seq("[b,1,1,-U]", "[b,2,2,+U]"))
          Thread.sleep(4500)
          fed.feed(Seq(Row("a", 1)))
          assert(fed.last.map(_.toString) == Seq("[a,1,1,+I]"))
        } finally fed.stop()
      })
    }
  }

  test("a micro-batch that is repeated later finds what it found before") {
    withTtl(2000) {
      val fed = stream(schema, "SELECT k, count(*) AS c FROM {t} GROUP BY k")
      try {
        fed.start()
        fed.feed(Seq(Row("a", 1)))
        fed.failsNext = true
        intercept[StreamingQueryException](fed.feed(Seq(Row("a", 1))))
        Thread.sleep(2500)
        fed.restart()
        fed.running.processAllAvailable()
        assert(fed.last.map(_.toString) == Seq("[a,1,-U]", "[a,2,+U]"))
      } finally fed.stop()
    }
  }

  test("what has expired leaves the store, and is counted") {
    withTtl(1) {
      val fed = stream(schema, "SELECT k, count(DISTINCT v) AS c FROM {t} GROUP BY k")
      try {
        fed.start()
        (0 to 2 * ExpiringEntries.evictEvery).foreach { i =>
          Thread.sleep(2)
          fed.feed(Seq(Row(s"k$i", 1)))
        }
        val progress = fed.running.lastProgress.stateOperators.head
        assert(progress.numRowsTotal < ExpiringEntries.evictEvery * 4)
        val left = spark.read.format("statestore").load(fed.checkpoint).count()
        assert(left < ExpiringEntries.evictEvery * 4)
      } finally fed.stop()
    }
  }

  test("that a row of expired state goes is counted and ignored, in every operator") {
    // The lower state is written again at every micro-batch, the upper one's groups are not.
    val counts = "SELECT k, count(*) AS c, max(v) AS v FROM {t} GROUP BY k"
    Seq(
      s"SELECT v, count(*) AS n, max(c) AS m, count(DISTINCT c) AS d FROM ($counts) GROUP BY v",
      s"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY v ORDER BY c) AS rn FROM ($counts)) WHERE rn <= 2"
    ).foreach { sql =>
      withTtl(3000) {
        val fed = stream(schema, sql)
        try {
          fed.start()
          fed.feed(Seq(Row("a", 1), Row("b", 2)))
          (0 until 4).foreach { _ =>
            Thread.sleep(1000)
            // Neither changes: their groups are written below, and nothing is told above.
            fed.feed(Seq(Row("a", 1)))
          }
          fed.feed(Seq(Row("b", 3)))
          val emitted = fed.emitted.map(_.toString)
          assert(!emitted.exists(_.contains("null")), emitted)
          fed.feed(Seq(Row("c", 2)))
          assert(
            fed.last.nonEmpty && fed.last.forall(_.getString(fed.last.head.length - 1) == "+I"))
        } finally fed.stop()
      }
    }
  }

  private val source = "from_changelog(TABLE({t}), 'op')"

  /** What changes of `k, v, op` are told as, a micro-batch each, where state has a time to live. */
  private def told(ttlMs: Long, sql: String)(batches: (Seq[Row], String)*): Unit = withTtl(ttlMs) {
    val fed = stream("k STRING, v INT, op STRING", sql)
    try {
      fed.start()
      batches.foreach { case (rows, wanted) =>
        fed.feed(rows)
        assert(fed.last.mkString(" ") == wanted)
      }
    } finally fed.stop()
  }

  test("of a group of which more goes than is known nothing is left") {
    told(
      60000,
      s"SELECT k, count(*) AS n, count(DISTINCT v) AS d, max(v) AS m FROM $source GROUP BY k")(
      Seq(Row("a", 1, "-D"), Row("a", 2, "-D"), Row("a", 3, "+I")) -> "",
      Seq(Row("a", 3, "+I")) -> "[a,1,1,3,+I]",
      Seq(Row("a", 3, "-D")) -> "[a,1,1,3,-D]",
      Seq(Row("a", 4, "+I")) -> "[a,1,1,4,+I]"
    )
    told(60000, s"SELECT count(*) AS n, count(DISTINCT v) AS d FROM $source")(
      Seq(Row("a", 1, "-D")) -> "[0,0,+I]",
      Seq(Row("a", 1, "-D")) -> "",
      Seq(Row("a", 2, "+I")) -> "[0,0,-U] [1,1,+U]"
    )
  }

  test("a value that expired before it goes is not the largest for ever") {
    // If the machine is busy, a row may come after its group has expired. Then all with more time.
    assert(LazyList(2000L, 4000L, 8000L, 16000L).exists(outlivesItsLargest), "too slow")
  }

  /** @return whether the group has lived on, which its largest value has not */
  private def outlivesItsLargest(ttl: Long): Boolean = withTtl(ttl) {
    val fed = stream("k STRING, v INT, op STRING", s"SELECT k, max(v) AS m FROM $source GROUP BY k")
    var (before, longest) = (Long.MaxValue, 0L)
    def feed(rows: Row*): String = {
      val start = System.currentTimeMillis()
      fed.feed(rows)
      longest = longest.max(System.currentTimeMillis() - before)
      before = start
      fed.last.mkString(" ")
    }
    try {
      fed.start()
      feed(Row("a", 5, "+I"))
      (0 until 3).foreach { _ =>
        Thread.sleep(ttl / 2)
        feed(Row("a", null, "+I"))
      }
      val smaller = feed(Row("a", 5, "-D"), Row("a", 3, "+I"))
      Thread.sleep(ttl / 2)
      val none = feed(Row("a", 3, "-D"))
      val isAlive = longest < ttl
      if (isAlive) {
        assert(smaller == "[a,5,-U] [a,3,+U]")
        assert(none == "[a,3,-U] [a,null,+U]")
      }
      isAlive
    } finally fed.stop()
  }

  test("a time to live that is switched on or off at a restart is refused by its setting's name") {
    def changed(before: Long, after: Long): String = {
      val fed = stream(schema, "SELECT k, count(DISTINCT v) AS c FROM {t} GROUP BY k")
      try {
        withConf(ChangelogConf.STATE_TTL.key -> s"${before}ms") {
          fed.start()
          fed.feed(rows)
          fed.stop()
        }
        withConf(ChangelogConf.STATE_TTL.key -> s"${after}ms") {
          fed.start()
          intercept[Exception](fed.feed(rows)).getMessage
        }
      } finally fed.stop()
    }
    Seq(changed(0, 60000) -> "STATE_TTL_ON", changed(60000, 0) -> "STATE_TTL_OFF").foreach {
      case (text, condition) =>
        assert(text.contains(s"FIRESTEEL_CHANGELOG_$condition"), text)
        assert(
          text.contains("ChangelogAggregate") && text.contains(ChangelogConf.STATE_TTL.key),
          text)
    }
  }

  test("rows that an operator emits are counted by kind") {
    val sql = "SELECT k, sum(v) AS s FROM {t} GROUP BY k"
    val fed = stream(schema, sql)
    try {
      fed.startAs("append", s"SELECT *, row_kind() AS op FROM ($sql)")
      val counts = Seq(rows, Seq(Row("a", 5))).map { more =>
        fed.feed(more)
        val last = fed.running.recentProgress.filter(_.numInputRows > 0).last
        val metrics = last.stateOperators.head.customMetrics
        Seq("numInsertRows", "numUpdateBeforeRows", "numUpdateAfterRows", "numDeleteRows")
          .map(metrics.get(_).longValue)
      }
      assert(counts == Seq(Seq(2, 0, 0, 0), Seq(0, 1, 1, 0)))
    } finally fed.stop()
  }
}
