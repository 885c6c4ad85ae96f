package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite, RandomCases, RandomChains}
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.core.decide.Explain
import org.apache.spark.sql.Row
import org.apache.spark.sql.execution.exchange.{ReusedExchangeExec, ShuffleExchangeLike}
import org.apache.spark.sql.firesteel.lastBatchOf
import org.scalatest.Assertion

/**
 * Operators that are distributed as their readers are: how many shuffles a micro-batch has, and the
 * batch query's answer after each.
 */
class PlaceStateSuite extends ChangelogSuite with RandomCases {

  private val schema = "k INT, g STRING, v BIGINT, id BIGINT"

  private def batches = Seq(
    Seq(Row(1, "a", 1L, 1L), Row(null, "a", 2L, 2L), Row(2, null, 3L, 3L), Row(2, "b", 3L, 11L)),
    Seq(Row(1, "b", 9L, 4L), Row(3, "a", 0L, 5L), Row(null, null, 7L, 6L)),
    Nil,
    Seq(Row(3, "a", 5L, 7L), Row(1, "a", -1L, 8L), Row(2, "c", 8L, 9L), Row(null, "b", 1L, 10L))
  )

  private val top = "SELECT k, g, v, id FROM (SELECT *, row_number() OVER " +
    "(PARTITION BY k ORDER BY v DESC, id) rn FROM {t}) WHERE rn <= 2"
  private val one = "SELECT k, sum(v) v, count(*) n FROM {t} GROUP BY k"
  private val two = "SELECT k, g, sum(v) v, count(*) n FROM {t} GROUP BY k, g"
  private val turned = "SELECT g, k, max(v) m FROM {t} GROUP BY g, k"

  /** Checks the answers, and the shuffles of a micro-batch. */
  private def check(sql: String, shuffles: Int, restarts: Set[Int] = Set(3)): Assertion = {
    val fed = stream(schema, sql)
    try {
      fed.start()
      batches.zipWithIndex.foreach { case (rows, i) =>
        if (restarts(i)) fed.restart()
        fed.feed(rows)
        fed.difference.foreach(d => fail(s"$sql, micro-batch $i: $d"))
      }
      assert(shufflesOf(fed) == shuffles, lastBatchOf(fed.running).get.executedPlan)
    } finally fed.stop()
  }

  private def shufflesOf(fed: ChangelogStream): Int =
    lastBatchOf(fed.running).get.executedPlan.collect {
      case shuffle: ShuffleExchangeLike => shuffle
      case reused: ReusedExchangeExec => reused
    }.size

  test("operators above one another with the same keys") {
    check(s"SELECT k, avg(v), max(id) FROM ($top) GROUP BY k", 1)
    check(s"SELECT k, count(*), sum(v) FROM ($two) GROUP BY k", 2)
    check(
      s"SELECT *, sum(v) OVER (PARTITION BY k ORDER BY id, g) FROM ($top)",
      1)
    check(
      s"SELECT * FROM (SELECT *, rank() OVER (PARTITION BY g, k ORDER BY n DESC) r FROM ($two)) WHERE r = 1",
      1)
    check(s"SELECT k AS key, max(v) FROM (SELECT k, v FROM ($top) WHERE v > 0) GROUP BY k", 1)
    check(s"SELECT DISTINCT k FROM ($one) LATERAL VIEW explode(array(v, n)) AS x", 1)
    check("SELECT count(*) FROM (SELECT sum(v) FROM {t})", 2)
  }

  test("a join and its sides, in either order of the keys") {
    val on = "a.k = b.k AND a.g = b.g"
    check(s"SELECT a.v, b.m FROM ($two) a JOIN ($turned) b ON $on", 2)
    check(s"SELECT a.v, b.m FROM ($two) a LEFT JOIN ($turned) b ON $on", 2)
    check(s"SELECT a.v FROM ($two) a LEFT SEMI JOIN ($turned) b ON $on", 2)
    check(s"SELECT a.v, b.m FROM ($two) a FULL JOIN ($turned) b ON $on", 2)
    check(s"SELECT a.v, b.m FROM ($two) a RIGHT JOIN ($turned) b ON $on", 2)
    check(s"SELECT a.v, b.m FROM ($two) a JOIN ($turned) b ON a.k = b.k", 4)
    check(s"SELECT a.k, b.m FROM ($two) a JOIN ($turned) b ON a.n = b.m", 4)
  }

  test("above a join by the keys of a side whose rows keep their keys") {
    val sides = s"($top) a JOIN ({t}) b ON a.k = b.k".replace("({t})", "{t}")
    check(s"SELECT a.k, count(*), sum(b.v) FROM $sides GROUP BY a.k", 2)
    check(s"SELECT b.k, count(*), sum(b.v) FROM $sides GROUP BY b.k", 2)
    Seq("LEFT" -> "a.k", "RIGHT" -> "b.k").foreach { case (joinType, key) =>
      val joined = sides.replace("JOIN", s"$joinType JOIN")
      check(s"SELECT $key, count(*), sum(a.v) FROM $joined GROUP BY $key", 2)
      val other = if (key == "a.k") "b.k" else "a.k"
      check(
        s"SELECT $other, count(*), sum(a.v) FROM $joined GROUP BY $other",
        if (joinType == "LEFT") 3 else 4)
    }
    val whole = "{t} a FULL JOIN {t} b ON a.k = b.k AND a.v < b.v"
    check(s"SELECT a.k, count(*), sum(b.v) FROM $whole GROUP BY a.k", 3)
    check(
      "SELECT k, count(*) FROM {t} a WHERE NOT EXISTS (SELECT 1 FROM {t} b WHERE a.k = b.k AND b.v > a.v) GROUP BY k",
      2)
    check(
      "SELECT k, count(*) FROM {t} a WHERE EXISTS (SELECT 1 FROM {t} b WHERE a.k = b.k AND b.v > a.v) GROUP BY k",
      2)
  }

  test("chains of joins by one key") {
    check("SELECT a.v, b.v, c.v FROM {t} a JOIN {t} b ON a.k = b.k JOIN {t} c ON b.k = c.k", 3)
    check(
      "SELECT a.v, b.v, c.v FROM {t} a LEFT JOIN {t} b ON a.k = b.k LEFT JOIN {t} c ON a.k = c.k",
      3)
    check(
      "SELECT a.v, b.v, c.v FROM {t} a LEFT JOIN {t} b ON a.k = b.k LEFT JOIN {t} c ON b.k = c.k",
      4)
  }

  test("a union of operators with the same keys") {
    assume(shufflesOfUnions)
    check(
      s"SELECT k, sum(v) FROM (SELECT k, v FROM ($top) UNION ALL SELECT k, n FROM ($one)) GROUP BY k",
      2)
    check(
      s"SELECT k, sum(v) FROM (SELECT k, v FROM ($top) UNION ALL SELECT k, v FROM {t}) GROUP BY k",
      2)
  }

  private def shufflesOfUnions = spark.version >= "4.1"

  test("a checkpoint keeps the shuffles it began with") {
    val sql = s"SELECT a.v, b.m FROM ($two) a LEFT JOIN ($turned) b ON a.k = b.k AND a.g = b.g"
    Seq(true -> 2, false -> 4).foreach { case (removes, shuffles) =>
      val fed = stream(schema, sql)
      try {
        withConf(ChangelogConf.REMOVE_SHUFFLES.key -> removes) {
          fed.start()
          fed.feed(batches.head)
        }
        withConf(ChangelogConf.REMOVE_SHUFFLES.key -> !removes) {
          fed.restart()
          batches.tail.foreach(fed.feed)
          assert(fed.difference.isEmpty)
          assert(shufflesOf(fed) == shuffles)
        }
      } finally fed.stop()
    }
  }

  test("by some of the keys, if the setting allows it") {
    withConf(ChangelogConf.PARTIAL_KEY.key -> true) {
      check(s"SELECT k, count(*), sum(v) FROM ($two) GROUP BY k", 1)
      check(
        "SELECT k, sum(v) FROM (SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC, g) " +
          s"rn FROM ($two)) WHERE rn <= 2) GROUP BY k",
        1
      )
      check(
        s"SELECT a.k, max(b.m) FROM ($two) a LEFT JOIN ($turned) b ON a.k = b.k AND a.g = b.g GROUP BY a.k",
        2)
      check(s"SELECT count(*) FROM ($two)", 2)
    }
  }

  test("explain says which inputs need no shuffle") {
    val fed = stream(schema, s"SELECT a.v, b.v FROM ($two) a JOIN {t} b ON a.g = b.g AND a.k = b.k")
    try {
      fed.start()
      fed.feed(batches.head)
      val join = Explain.of(lastBatchOf(fed.running).get.executedPlan).fired
        .find(_.values("operator").contains("JOIN")).get
      assert(join.values("shuffle") ==
        "left: none, rows lie by these keys already; right: by the keys")
      assert(shufflesOf(fed) == 2)
    } finally fed.stop()
  }

  test("explain says why a shuffle stays") {
    Seq(
      s"SELECT k, sum(v) FROM ($two) GROUP BY k" ->
        Seq("by the keys: rows below lie by [k, g]; with few", ChangelogConf.PARTIAL_KEY.key),
      s"SELECT g, sum(v) FROM ($two) GROUP BY g, k % 2" -> Seq(
        "by the keys: rows below lie by [k, g]"),
      s"SELECT v, count(*) FROM ($one) GROUP BY v" -> Seq("by the keys: rows below lie by [k]"),
      s"SELECT a.k, b.v FROM (SELECT * FROM {t}) a LEFT JOIN ($two) b ON a.g = b.g AND a.k = b.k" ->
        Seq("by the keys: rows with a null in a key are spread")
    ).foreach { case (sql, parts) =>
      val fed = stream(schema, sql)
      try {
        fed.start()
        fed.feed(batches.head)
        val top = Explain.of(lastBatchOf(fed.running).get.executedPlan).fired.head.values("shuffle")
        parts.foreach(part => assert(top.contains(part), sql))
      } finally fed.stop()
    }
  }

  test("random chains and trees of operators by one key") {
    check(randomCases(RandomChains.query, RandomChains.batches), 12, inLong = 500) { c =>
      val _ = assertFollows(RandomChains.schema, c.query, c.batches, c.restarts)
    }
  }
}
