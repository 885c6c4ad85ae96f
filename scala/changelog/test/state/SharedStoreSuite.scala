package io.firesteel.changelog.state

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.changelog.checkpoint.RepartitionState
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.core.decide.Explain

import java.sql.Timestamp

import org.apache.spark.sql.{DataFrame, Encoders, Row}
import org.apache.spark.sql.firesteel.{hasEmptyStores, lastBatchOf}
import org.apache.spark.sql.firesteel.streaming.{memoryStream, StateStoreWriter}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{IntegerType, LongType, StringType, StructField, StructType}
import org.scalatest.Assertion

/** Operators that share the store of the one above them. */
class SharedStoreSuite extends ChangelogSuite {

  private val schema = "k INT, g STRING, v BIGINT, id BIGINT"

  private val top = "SELECT k, g, v, id FROM (SELECT *, row_number() OVER " +
    "(PARTITION BY k ORDER BY v DESC, id) rn FROM {t}) WHERE rn <= 2"
  private val one = "SELECT k, sum(v) v, count(*) n FROM {t} GROUP BY k"

  /** Each with the number of operators, and of stores in RocksDB and of the default provider. */
  private val queries: Seq[(String, Int, (Int, Int))] = Seq(
    (s"SELECT k, avg(v), count(DISTINCT g), max(id) FROM ($top) GROUP BY k", 2, (1, 2)),
    (s"SELECT *, sum(v) OVER (PARTITION BY k ORDER BY id, g) s FROM ($top)", 2, (1, 1)),
    (
      "SELECT k, sum(v), count(*) FROM (SELECT * FROM (SELECT *, rank() OVER (PARTITION BY k ORDER " +
        s"BY v DESC) r FROM ($one) LATERAL VIEW explode(array(v, n)) AS x) WHERE r = 1) GROUP BY k",
      3,
      (1, 3)),
    (s"SELECT a.k, a.v, b.v AS w FROM ($one) a LEFT JOIN ($top) b ON a.k = b.k", 3, (1, 2)),
    (
      s"SELECT a.k, count(*), max(b.v) FROM ($one) a JOIN ($one) b ON a.k = b.k AND b.n > 1 " +
        "JOIN {t} c ON c.k = b.k GROUP BY a.k",
      5,
      (1, 1)),
    (
      s"SELECT g, sum(v) FROM (SELECT k, g, max(v) v FROM ($top) GROUP BY k, g) GROUP BY g",
      3,
      (3, 3)),
    (
      s"SELECT k, max(m) FROM (SELECT k, v AS m FROM ($top) UNION ALL SELECT k, n FROM ($one)) GROUP BY k",
      3,
      (3, 3))
  )

  private def rows(from: Int): Seq[Row] = (0 until 12).map { i =>
    val k: Any = if ((i * from) % 7 == 3) null else (i * from) % 5
    Row(
      k,
      Seq("a", "b", null)((i + from) % 3),
      ((i * 31 + from) % 11 - 3).toLong,
      (i + from).toLong)
  }

  private val stores: Seq[(String, Seq[(String, Any)])] = {
    val format = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key
    val provider = SQLConf.STATE_STORE_PROVIDER_CLASS.key
    Seq(
      "the default provider" -> Seq(provider -> hdfs),
      "RocksDB" -> Seq(provider -> rocksDb, format -> 1),
      "RocksDB with versions by id" -> Seq(
        provider -> rocksDb,
        format -> 2,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled" -> true)
    )
  }

  private def feed(fed: ChangelogStream, from: Int): Assertion = {
    fed.feed(rows(from))
    assert(fed.difference.isEmpty, fed.difference)
  }

  private def operators(fed: ChangelogStream): (Int, Int) = {
    val plan = lastBatchOf(fed.running).get.executedPlan
    val stores = plan.collect { case writer: StateStoreWriter => writer }.size
    (stores + plan.collect { case guest: GuestExec => guest }.size, stores)
  }

  for ((name, settings) <- stores; ((sql, all, count), i) <- queries.zipWithIndex) {
    test(s"query $i, $name") {
      // A part that a query reads twice is there twice.
      withConf(settings :+ (ChangelogConf.REUSE_SUB_PLAN.key -> false): _*) {
        val fed = stream(schema, sql)
        try {
          fed.start()
          (1 to 2).foreach(feed(fed, _))
          val stores = if (name == "the default provider") count._2 else count._1
          assert(operators(fed) == ((all, stores)))
          fed.restart()
          (3 to 4).foreach(feed(fed, _))
          fed.stop()
          if (hasEmptyStores || name == "the default provider") {
            RepartitionState(spark, fed.checkpoint, 3)
            fed.start()
            (5 to 6).foreach(feed(fed, _))
          }
        } finally fed.stop()
      }
    }
  }

  test("a checkpoint keeps its stores, shared or not") {
    withProvider(rocksDb)(Seq(true, false).foreach { shares =>
      val fed = stream(schema, queries.head._1)
      try {
        withConf(ChangelogConf.MULTIPLE_INPUT.key -> shares) {
          fed.start()
          val _ = feed(fed, 1)
        }
        withConf(ChangelogConf.MULTIPLE_INPUT.key -> !shares) {
          fed.restart()
          val _ = feed(fed, 2)
          assert(operators(fed) == ((2, if (shares) 1 else 2)))
        }
      } finally fed.stop()
    })
  }

  test("another query over a shared store is refused")(withProvider(rocksDb) {
    val fed = stream(schema, queries.head._1)
    fed.start()
    feed(fed, 1)
    fed.stop()
    val other = stream(schema, queries.head._1.replace("rn <= 2", "rn <= 3"))
    other.checkpoint = fed.checkpoint
    other.addBefore(rows(1))
    val error = intercept[Exception] {
      other.start()
      other.feed(rows(2))
    }
    other.stop()
    assert(error.getMessage.contains("ROW_NUMBER from 1 to 2"), error)
  })

  test("a failed micro-batch is repeated from the version before") {
    val fed = stream(schema, queries(3)._1)
    try {
      fed.start()
      feed(fed, 1)
      fed.failsNext = true
      val _ = intercept[Exception](fed.feed(rows(2)))
      fed.restart()
      feed(fed, 3)
    } finally fed.stop()
  }

  test("explain, progress, and the state reader name each operator")(withProvider(rocksDb) {
    val fed = stream(schema, queries.head._1)
    try {
      fed.start()
      feed(fed, 1)
      val fired = Explain.of(lastBatchOf(fed.running).get.executedPlan).fired
      assert(fired.map(_.values("operator")) == Seq("Aggregate", "TopN"))
      assert(fired(1).values("store") == "ChangelogAggregate 0")
      val progress = fed.running.lastProgress.stateOperators
      assert(progress.map(_.operatorName).toSeq == Seq("changelogAggregate 0"))
      assert(progress.head.numRowsUpdated > progress.head.numRowsTotal / 2)
    } finally fed.stop()
    val state = spark.read.format("statestore").load(fed.checkpoint)
    val columns = state.select("key.*").columns.toSeq
    assert(columns.contains("0_key") && columns.contains("1_topn_partition_0"))
    assert(state.select("key.member").distinct().count() == 2)
  })

  private def entries(fed: ChangelogStream): Long = {
    val ids = fed.running.lastProgress.stateOperators.indices
    ids.map { id =>
      spark.read.format("statestore").option("operatorId", id.toLong).load(fed.checkpoint).count()
    }.sum
  }

  test("a time to live takes the entries of each operator") {
    val sql = s"SELECT k, count(*) AS c, sum(v) AS s FROM ($one) GROUP BY k"
    val millis = 1000L
    withConf(ChangelogConf.STATE_TTL.key -> s"${millis}ms") {
      val fed = stream(schema, sql)
      try {
        fed.start()
        feed(fed, 1)
        assert(operators(fed) == ((2, 1)) && entries(fed) == 12)
        Thread.sleep(millis + 100)
        fed.restart()
        // Each partition is swept once in 16 micro-batches.
        val expired = (0 until 17).map { _ =>
          fed.feed(Seq(Row(100, "a", 1L, 1L)))
          fed.running.lastProgress.stateOperators
            .map(_.customMetrics.get("numExpiredStateRows").longValue).sum
        }
        assert(entries(fed) == 2)
        assert(expired.sum == 12)
      } finally fed.stop()
    }
  }

  for (shares <- Seq(true, false); (first, second) <- Seq("1d" -> "0s", "0s" -> "1d")) test(
    s"a time to live of $first is now $second, with${if (shares) "" else "out"} a shared store") {
    withProvider(rocksDb)(withConf(ChangelogConf.MULTIPLE_INPUT.key -> shares) {
      val fed = stream(schema, queries.head._1)
      try {
        withConf(ChangelogConf.STATE_TTL.key -> first) {
          fed.start()
          feed(fed, 1)
          fed.stop()
        }
        val error = intercept[Exception](withConf(ChangelogConf.STATE_TTL.key -> second) {
          fed.restart()
          fed.feed(rows(2))
        })
        val condition = s"STATE_TTL_${if (second == "0s") "OFF" else "ON"}"
        assert(error.getMessage.contains(condition), error)
      } finally fed.stop()
    })
  }

  test("one operator keeps its rows longer than the other, or for ever") {
    Seq("STATE_TTL('1d')" -> 1, "STATE_TTL('0s')" -> 2).foreach { case (hint, stores) =>
      val sql =
        s"SELECT k, count(*), sum(v) FROM (SELECT /*+ $hint */ k, sum(v) AS v FROM {t} GROUP BY k) GROUP BY k"
      Seq(hdfs, rocksDb).foreach(withProvider(_) {
        withConf(ChangelogConf.STATE_TTL.key -> "2d") {
          val fed = stream(schema, sql)
          try {
            fed.start()
            feed(fed, 1)
            fed.restart()
            feed(fed, 2)
            assert(operators(fed) == ((2, stores)))
          } finally fed.stop()
        }
      })
    }
  }

  test("what Spark computes elsewhere, or not at all, keeps stores apart") {
    Seq(
      s"SELECT k, sum(v) FROM ($top) WHERE g IN (SELECT g FROM few) GROUP BY k",
      "SELECT a.k, count(*) FROM {t} a JOIN {t} b ON a.k = b.k WHERE b.g IN (SELECT g FROM few) GROUP BY a.k",
      s"SELECT k, sum(v) FROM ($one) WHERE false OR n > 1 GROUP BY k"
    ).foreach { sql =>
      spark.sql("SELECT * FROM VALUES ('a'), ('c') AS few(g)").createOrReplaceTempView("few")
      withConf(SQLConf.AUTO_BROADCASTJOIN_THRESHOLD.key -> -1) {
        val fed = stream(schema, sql)
        try {
          fed.start()
          (1 to 3).foreach { i =>
            if (i == 3) fed.restart()
            feed(fed, i)
          }
        } finally fed.stop()
      }
    }
  }

  test("a function that reads a micro-batch twice in one task") {
    Seq(hdfs, rocksDb).foreach(withProvider(_) {
      val fed = stream(schema, "SELECT 1 FROM {t}")
      val source = memoryStream[Row](spark)(Encoders.row(StructType.fromDDL(schema)))
      source.toDF().createOrReplaceTempView("twice")
      var read = Seq.empty[Row]
      val query =
        spark.sql(s"SELECT *, row_kind() AS op FROM (${queries.head._1.replace("{t}", "twice")})")
          .writeStream
          .option("checkpointLocation", fed.checkpoint)
          .foreachBatch { (batch: DataFrame, _: Long) =>
            val sums = batch.groupBy("k").count().hint("merge")
            read = batch.join(sums, "k").collect().toSeq
          }
          .start()
      try {
        (1 to 2).foreach { i =>
          source.addData(rows(i))
          query.processAllAvailable()
        }
        val state = spark.read.format("statestore").load(fed.checkpoint)
        // The same as of a query whose micro-batches are read once.
        val once = stream(schema, queries.head._1)
        try {
          once.start()
          (1 to 2).foreach(feed(once, _))
          assert(read.size == once.last.count(!_.isNullAt(0)))
          val wanted = spark.read.format("statestore").load(once.checkpoint)
          assert(state.selectExpr("hash(key, value)").collect().toSet ==
            wanted.selectExpr("hash(key, value)").collect().toSet)
        } finally once.stop()
      } finally query.stop()
    })
  }

  test("windows that close, below and above one another, and an interval join") {
    val timed = "k INT, at TIMESTAMP, v BIGINT"
    def at(minute: Int) = Timestamp.valueOf(f"2026-01-01 ${minute / 60}%02d:${minute % 60}%02d:00")
    val sql = Seq(
      "SELECT window_end, k, sum(v) s FROM TUMBLE(TABLE(t), DESCRIPTOR(at), INTERVAL 10 MINUTES) GROUP BY window_end, k",
      "SELECT w.start, k, sum(n), count(*) FROM (SELECT window(at, '10 minutes') w, k, count(*) n FROM t GROUP BY 1, 2) GROUP BY w, k",
      "SELECT a.k, count(*) FROM t a JOIN t b ON a.k = b.k AND b.at BETWEEN a.at AND a.at + INTERVAL 5 MINUTES GROUP BY a.k"
    )
    sql.foreach { text =>
      val results = Seq(true, false).map { shares =>
        withConf(ChangelogConf.MULTIPLE_INPUT.key -> shares) {
          val fed = new ChangelogStream(
            spark,
            StructType.fromDDL(timed),
            text.replace("TABLE(t)", "TABLE({t})").replace(" t ", " {t} "),
            watermark = Some("at" -> "0 seconds"))
          try {
            fed.start()
            (0 until 4).foreach { i =>
              if (i == 2) fed.restart()
              fed.feed((0 until 6).map(n => Row(n % 2, at(i * 12 + n * 2), n.toLong)))
            }
            fed.emitted.map(_.toString).sorted
          } finally fed.stop()
        }
      }
      assert(results.head == results.last && results.head.nonEmpty, text)
    }
  }

  test("the watermark closes windows of neighbours in one store") {
    val hours = "window(at, '1 hour')"
    def at(hour: Int) =
      new Timestamp(Timestamp.valueOf("2026-01-01 00:00:00").getTime + hour * 1200000L)
    val random = new scala.util.Random(5)
    val rows =
      Seq.fill(8)(Seq.fill(9)((random.nextInt(3), random.nextInt(5), random.nextInt(3).toLong)))
    val texts = Seq(
      s"SELECT w, k, max(n) AS m, count(*) AS c FROM (SELECT w, k, n FROM (SELECT $hours AS w, k, count(*) AS n " +
        s"FROM {t} GROUP BY $hours, k) WHERE n > 1) GROUP BY w, k",
      s"SELECT w, k, n, row_number() OVER (PARTITION BY w, k ORDER BY n) AS p FROM (SELECT $hours AS w, k, " +
        s"count(*) AS n FROM {t} GROUP BY $hours, k)"
    )
    for (provider <- Seq(hdfs, rocksDb); (text, i) <- texts.zipWithIndex) withProvider(provider) {
      val results = Seq(true, false).map { shares =>
        withConf(ChangelogConf.MULTIPLE_INPUT.key -> shares) {
          val fed = new ChangelogStream(
            spark,
            StructType.fromDDL("k INT, at TIMESTAMP, v BIGINT"),
            text,
            watermark = Some("at" -> "1 hour"))
          try {
            fed.start()
            val sizes = rows.zipWithIndex.map { case (these, batch) =>
              if (batch == 4) fed.restart()
              fed.feed(these.map { case (k, hour, v) => Row(k, at(batch * 2 + hour), v) })
              fed.running.lastProgress.stateOperators.map(_.numRowsTotal).sum
            }
            if (shares) assert(operators(fed) == ((2, if (i == 0 || provider == rocksDb) 1 else 2)))
            (sizes, fed.emitted.map(_.toString).sorted)
          } finally fed.stop()
        }
      }
      assert(results.head == results.last && results.head._2.nonEmpty, text)
      val sizes = results.head._1
      assert(sizes.max < rows.map(_.size).sum && sizes.exists(_ < sizes.max), sizes)
    }
  }

  test("columns by which a member scans come before all others, and other keys are structs") {
    val a = StateLayout(
      "a",
      StructType(Seq(StructField("a_key", IntegerType))),
      StructType(Seq(StructField("a_value", StringType))),
      prefix = 0)
    val b = StateLayout.ofTables(
      "b",
      Seq(StringType),
      Seq(TableLayout(
        "rows",
        StructType(Seq(StructField("id", LongType))),
        StructType(Seq(StructField("name", StringType))))))
    val layout = SharedLayout(Seq(a, b))
    assert(layout.whole.key.fieldNames.toSeq == Seq(
      "member",
      "0_key",
      "1_b_key_0",
      "1_b_table",
      "1_b_position",
      "1_b_entry"))
    assert(layout.whole.prefix == 4)
  }
}
