package io.firesteel.changelog.checkpoint

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.testkit.LongTest

import java.nio.file.Files

import scala.util.Random

import org.apache.spark.sql.{DataFrame, Encoders, Row}
import org.apache.spark.sql.firesteel.hasEmptyStores
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.internal.SQLConf
import org.scalatest.Assertion

/** Queries whose state is split in another number of partitions, and that go on. */
class RepartitionStateSuite extends ChangelogSuite {

  private val formatKey = SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key
  private val changelogKey =
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"

  private def kept(provider: String, more: (String, Any)*): Seq[(String, Any)] =
    (SQLConf.STATE_STORE_PROVIDER_CLASS.key -> provider) +: more

  private val stores: Seq[(String, Seq[(String, Any)])] = Seq(
    "the default provider" -> kept(hdfs),
    "RocksDB" -> kept(rocksDb, formatKey -> 1),
    "RocksDB with change files" -> kept(rocksDb, formatKey -> 1, changelogKey -> true),
    "RocksDB with versions by id" -> kept(rocksDb, formatKey -> 2, changelogKey -> true)
  ).filter { case (name, _) => hasEmptyStores || !name.startsWith("RocksDB") }

  private val schema = "g STRING, k INT, v DOUBLE"

  /** A keyed aggregate with sets of values, a Top-N by it, and an aggregate of the whole over that. */
  private val sql =
    """SELECT count(*) AS n, sum(s) AS s, max(d) AS d FROM (
      |  SELECT *, row_number() OVER (PARTITION BY g ORDER BY s DESC, k) AS rn FROM (
      |    SELECT g, k, sum(v) AS s, count(DISTINCT v) AS d FROM {t} GROUP BY g, k))
      |WHERE rn <= 2""".stripMargin

  private val chance = new Random(7)

  private def some(n: Int = 30): Seq[Row] = Seq.fill(n) {
    val values = Seq[Any](0.0, -0.0, Double.NaN, 1.5, 2.5, null)
    Row(
      Seq("a", "b", "c", null)(chance.nextInt(4)),
      chance.nextInt(12),
      values(chance.nextInt(values.size)))
  }

  private def feed(fed: ChangelogStream, rows: Seq[Row] = some()): Assertion = {
    fed.feed(rows)
    assert(fed.difference.isEmpty)
  }

  /** A query that has run and is stopped. */
  private def stopped(text: String = sql)(body: ChangelogStream => Any): Unit = {
    val fed = stream(schema, text)
    try {
      fed.start()
      feed(fed)
      feed(fed)
      fed.stop()
      val _ = body(fed)
    } finally fed.stop()
  }

  private def partitionsOf(fed: ChangelogStream): Option[Int] = {
    val checkpoint = new Checkpoint(spark, fed.checkpoint)
    checkpoint.offsets.last.flatMap(checkpoint.offset).flatMap(_.partitions)
  }

  stores.foreach { case (name, settings) =>
    test(s"grows, shrinks and goes on: $name") {
      withConf(settings: _*) {
        stopped() { fed =>
          Seq(5, 1, 3).foreach { n =>
            val before = partitionsOf(fed)
            val done = RepartitionState(spark, fed.checkpoint, n)
            assert(Some(done.before) == before && done.partitions == n)
            fed.start()
            feed(fed)
            feed(fed)
            fed.restart()
            feed(fed)
            fed.stop()
            assert(partitionsOf(fed).contains(n))
          }
        }
      }
    }
  }

  private val operators: Seq[(String, String)] = Seq(
    "aggregates without keys" -> "SELECT sum(v) AS s, min(k) AS m, count(*) AS n FROM {t}",
    "grouping sets" -> "SELECT g, k, count(*) AS n FROM {t} GROUP BY ROLLUP (g, k)",
    "first rows that stay" ->
      "SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY v, k) AS rn FROM {t}) WHERE rn <= 3",
    "one row of each partition" ->
      "SELECT g, k FROM (SELECT *, row_number() OVER (PARTITION BY g ORDER BY k DESC) AS rn FROM {t}) WHERE rn = 1",
    "first rows of the whole" -> "SELECT g, k, v FROM {t} ORDER BY k, g, v LIMIT 3",
    "first groups of the whole" ->
      "SELECT g, n FROM (SELECT g, count(*) AS n FROM {t} GROUP BY g) ORDER BY n, g LIMIT 2"
  )

  operators.foreach { case (name, text) =>
    test(s"operators know their entries again: $name") {
      stopped(text) { fed =>
        Seq(3, 1).foreach { n =>
          RepartitionState(spark, fed.checkpoint, n)
          fed.start()
          feed(fed)
          feed(fed)
          fed.stop()
        }
      }
    }
  }

  /** Joins of all types, of which one has a key of one row, and a comparison of all rows with all. */
  private val joins: String = {
    val counts = "(SELECT g AS h, count(*) AS n, min(k) AS m FROM {t} GROUP BY g) c"
    val types = Seq("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI", "LEFT ANTI").map { joinType =>
      val right = if (joinType.startsWith("LEFT ")) "NULL AS y, NULL AS z" else "y, z"
      s"SELECT '$joinType' AS t, g, k, v, $right FROM (SELECT g, k, v FROM {t} WHERE k % 2 = 0) a " +
        s"$joinType JOIN (SELECT g AS h, k AS y, v AS z FROM {t} WHERE k % 3 = 0) b ON g = h AND k > y"
    }
    val others = Seq(
      s"SELECT 'one row' AS t, g, k, v, n, NULL FROM {t} LEFT JOIN $counts ON k = n",
      s"SELECT 'all rows' AS t, g, k, v, NULL, NULL FROM {t} WHERE k NOT IN (SELECT n FROM $counts)",
      s"SELECT 'slots' AS t, g, k, v, NULL, NULL FROM {t} WHERE k > (SELECT avg(n) FROM $counts)",
      "SELECT 'set' AS t, * FROM (SELECT g, k, v, NULL, NULL FROM {t} " +
        "EXCEPT ALL SELECT h, m, 1.5, NULL, NULL FROM " + counts + ")"
    )
    (types ++ others).mkString(" UNION ALL ")
  }

  stores.filter { case (name, _) => !name.contains("change files") }.foreach {
    case (name, settings) =>
      val long = if (name.startsWith("RocksDB")) Seq(LongTest) else Nil
      test(s"joins know their entries again: $name", long: _*) {
        withConf(settings: _*) {
          stopped(joins) { fed =>
            Seq(3, 1).foreach { n =>
              RepartitionState(spark, fed.checkpoint, n)
              fed.start()
              feed(fed)
              feed(fed)
              fed.stop()
            }
          }
        }
      }
  }

  /** A query that gives its whole result each time. */
  private def assertGoesOn(text: String): Unit = {
    val fed = stream(schema, text)
    def whole(): Assertion = {
      fed.feed(some())
      assert(ChangelogStream.bag(fed.last) == ChangelogStream.bag(fed.answer()))
    }
    try Seq(3, 1, 4).foreach { n =>
        fed.startAs("complete", text)
        whole()
        whole()
        fed.stop()
        RepartitionState(spark, fed.checkpoint, n)
      }
    finally fed.stop()
  }

  test("operators know their entries again: the table of complete mode") {
    assertGoesOn("SELECT g, n, count(*) AS c FROM (SELECT g, k, count(*) AS n FROM {t} GROUP BY g, k) GROUP BY g, n")
  }

  test("operators know their entries again: Spark's own aggregates") {
    assertGoesOn("SELECT g, k % 5 AS r, count(*) AS n FROM {t} GROUP BY g, k % 5")
    assertGoesOn("SELECT count(*) AS n, max(k) AS m FROM {t}")
    if (hasEmptyStores) withConf(kept(rocksDb, formatKey -> 2): _*) {
      assertGoesOn("SELECT count(*) AS n, max(k) AS m FROM {t}")
    }
  }

  test("operators know their entries again: rows replaced by their key") {
    val keyed = new ChangelogStream.Changes(
      name => s"from_changelog(TABLE($name), keys => array('id'))",
      _.groupBy(_.getInt(0)).values.map(_.last).filter(_.getString(2) != "-D")
        .map(row => Row(row.getInt(0), row.getString(1))).toSeq
    )
    val fed = stream("id INT, v STRING, op STRING", "SELECT id, v FROM {t}", keyed)
    def changes = Seq.fill(20) {
      Row(chance.nextInt(9), s"v${chance.nextInt(3)}", if (chance.nextInt(3) == 0) "-D" else "+I")
    }
    try Seq(3, 1, 2).foreach { n =>
        fed.start()
        feed(fed, changes)
        feed(fed, changes)
        fed.stop()
        RepartitionState(spark, fed.checkpoint, n)
      }
    finally fed.stop()
  }

  test("operators know their entries again: Spark's dropDuplicates") {
    val input = memoryStream[Int](spark)(Encoders.scalaInt)
    val checkpoint = Files.createTempDirectory("firesteel-repartition").toString
    var last = Seq.empty[Int]
    def run(values: Range): Seq[Int] = {
      input.addData(values)
      val query = input.toDF().dropDuplicates().writeStream
        .option("checkpointLocation", checkpoint)
        .foreachBatch((batch: DataFrame, _: Long) => last = batch.collect().map(_.getInt(0)).toSeq)
        .start()
      try query.processAllAvailable()
      finally query.stop()
      last.sorted
    }
    assert(run(0 until 50) == (0 until 50))
    RepartitionState(spark, checkpoint, 5)
    assert(run(20 until 60) == (50 until 60))
    RepartitionState(spark, checkpoint, 1)
    assert(run(0 until 61) == Seq(60))
  }
}
