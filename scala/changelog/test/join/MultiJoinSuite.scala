package io.firesteel.changelog.join

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite, RandomChangelogs}
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.state.{GuestExec, StatefulChangelogExec}
import io.firesteel.testkit.{TestSize, Warnings}

import org.apache.spark.sql.{AnalysisException, Row}
import org.apache.spark.sql.firesteel.lastBatchOf
import org.apache.spark.sql.internal.SQLConf
import org.scalacheck.Gen
import org.scalacheck.rng.Seed

/**
 * Joins by the same keys one above the other: the upper one keeps no rows of the lower one, whose rows
 * are joined again. The streams are parts of one, told apart by `s`.
 */
class MultiJoinSuite extends ChangelogSuite {

  private val schema = "s STRING, k INT, v BIGINT"
  private def in(s: String) = s"(SELECT k, v FROM {t} WHERE s = '$s') $s"

  /** The joins that join their left side again, of how many. */
  private def again(fed: ChangelogStream): (Int, Int) = {
    val plan = lastBatchOf(fed.running).get.executedPlan
    val operators = plan.collect {
      case guest: GuestExec => guest.operator
      case own: StatefulChangelogExec => own
    }
    val joins = operators.collect { case join: ChangelogJoinExec => join }
    (joins.count(_.below.nonEmpty), joins.size)
  }

  private def follows(
      sql: String,
      batches: Seq[Seq[Row]],
      source: ChangelogStream.Source = ChangelogStream.Rows,
      columns: String = schema,
      restarts: Set[Int] = Set.empty): (Int, Int) = {
    val fed = stream(columns, sql, source)
    try {
      fed.start()
      batches.zipWithIndex.foreach { case (rows, i) =>
        if (restarts(i)) fed.restart()
        fed.feed(rows)
        fed.difference.foreach(its => fail(s"$sql, micro-batch $i: $its"))
      }
      again(fed)
    } finally fed.stop()
  }

  private val batches = Seq(
    Seq(Row("a", 1, 1L), Row("a", null, 2L), Row("b", 1, 5L), Row("b", null, 6L), Row("c", 2, 7L)),
    Seq(Row("c", 1, 8L), Row("c", null, 9L), Row("a", 2, 10L), Row("d", 1, 0L)),
    Seq(Row("b", 2, 11L), Row("a", 1, 1L), Row("c", 1, 8L), Row("d", 2, 0L), Row("d", null, 0L)),
    Nil,
    Seq(Row("b", 1, 12L), Row("c", 1, 13L), Row("a", 3, 14L), Row("c", 3, 15L), Row("b", 3, 1L))
  )

  private val (a, b, c, d) = (in("a"), in("b"), in("c"), in("d"))

  test("chains of joins by the same keys keep no rows of each other") {
    Seq(
      s"SELECT a.k, a.v, b.v bv, c.v cv FROM $a JOIN $b ON a.k = b.k JOIN $c ON a.k = c.k" -> 1,
      s"SELECT * FROM $a JOIN $b ON a.k = b.k JOIN $c ON b.k = c.k AND a.v < c.v" -> 1,
      s"SELECT * FROM $a JOIN $b ON a.k = b.k JOIN $c ON b.k = c.k JOIN $d ON d.k = a.k" -> 2,
      s"SELECT * FROM $a JOIN $b USING (k) LEFT JOIN $c USING (k) LEFT SEMI JOIN $d USING (k)" -> 2,
      s"SELECT * FROM $a LEFT JOIN $b ON a.k = b.k LEFT JOIN $c ON a.k = c.k" -> 1,
      s"SELECT * FROM $a LEFT ANTI JOIN $b ON a.k = b.k LEFT JOIN $c ON a.k <=> c.k" -> 0,
      s"SELECT * FROM $a JOIN $b ON a.k = b.k LEFT ANTI JOIN $c ON a.k <=> c.k" -> 1,
      s"SELECT * FROM $a LEFT JOIN $b ON a.k <=> b.k JOIN $c ON a.k <=> c.k" -> 1,
      s"SELECT *, a.k IN (SELECT k FROM $c) AS x FROM $a JOIN $b ON a.k = b.k" -> 1,
      s"SELECT * FROM $a WHERE EXISTS (SELECT 1 FROM $b WHERE a.k = b.k) " +
        s"AND NOT EXISTS (SELECT 1 FROM $c WHERE a.k = c.k)" -> 1,
      s"SELECT a.v, c.v cv FROM $a JOIN $b ON a.k = b.k AND a.v = b.v JOIN $c ON b.v = c.v AND a.k = c.k" -> 0,
      s"SELECT a.v, c.v cv FROM $a JOIN $b ON a.k = b.k AND a.v = b.v JOIN $c ON b.k = c.k AND b.v = c.v" -> 1,
      // A condition may be tried on many pairs for few rows.
      s"SELECT * FROM $a JOIN $b ON a.k = b.k AND a.v < b.v JOIN $c ON b.k = c.k" -> 0,
      s"SELECT * FROM $a JOIN $b ON a.k = b.k FULL JOIN $c ON b.k = c.k" -> 0,
      s"SELECT * FROM $a JOIN $b ON a.k = b.k LEFT JOIN $c ON b.k = c.k AND a.v < c.v" -> 0,
      s"SELECT * FROM $a JOIN $b ON a.k = b.k JOIN $c ON b.v = c.v" -> 0
    ).zipWithIndex.foreach { case ((sql, wanted), i) =>
      withConf((if (i < 2) Nil else interpreted): _*)(withProvider(providers(i % 2)) {
        val (found, _) = follows(sql, batches, restarts = if (i % 3 == 0) Set(2) else Set.empty)
        assert(found == wanted, sql)
      })
    }
  }

  test("groups and first rows joined by their keys") {
    def sums(s: String) =
      s"(SELECT k, count(*) AS n, sum(v) AS v FROM {t} WHERE s = '$s' GROUP BY k) $s"
    def first(s: String) = "(SELECT k, v FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER " +
      s"BY v DESC) AS rn FROM {t} WHERE s = '$s') WHERE rn = 1) $s"
    Seq(
      s"SELECT * FROM ${sums("a")} JOIN ${sums("b")} ON a.k = b.k JOIN ${sums("c")} ON a.k = c.k",
      s"SELECT * FROM ${sums("a")} LEFT JOIN ${first("b")} ON a.k = b.k LEFT JOIN $c ON a.k = c.k",
      s"SELECT * FROM $a JOIN ${first("b")} ON a.k = b.k LEFT ANTI JOIN ${first("c")} ON a.k = c.k"
    ).foreach(sql => follows(sql, batches))
  }

  test("in complete mode, and below a group in update mode") {
    withConf(interpreted: _*) {
      val from = s"$a JOIN $b ON a.k = b.k LEFT JOIN $c ON a.k = c.k"
      assertWhole(schema, s"SELECT a.k, a.v, b.v AS bv, c.v AS cv FROM $from", batches, Set(2))
      val groups = s"SELECT a.k, count(*) AS n, sum(c.v) AS s FROM $from GROUP BY a.k"
      assert(assertUpserts(schema, groups, batches))
    }
  }

  test("a key with many rows on all sides, which are spread over buckets") {
    def rows(s: String, from: Int, n: Int) = (from until from + n).map(i => Row(s, i % 2, i.toLong))
    val many = Seq(
      rows("a", 0, 70) ++ rows("b", 0, 3),
      rows("b", 3, 60) ++ rows("c", 0, 2),
      rows("c", 2, 50) ++ rows("a", 70, 5) ++ rows("b", 0, 2))
    withConf(ChangelogConf.MAX_BUFFERED_ROWS.key -> 20) {
      Seq("INNER", "LEFT", "LEFT SEMI").foreach { joinType =>
        val from = s"$a JOIN $b ON a.k = b.k $joinType JOIN $c ON a.k = c.k"
        assert(follows(s"SELECT a.v AS av, b.v AS bv, a.k FROM $from", many)._1 == 1)
      }
    }
  }

  test("MULTI_JOIN asks for a join below with a condition, and makes the joins changelogs") {
    val hint = "/*+ MULTI_JOIN(a, b, c) */"
    val from = s"$a JOIN $b ON a.k = b.k AND a.v < b.v JOIN $c ON b.k = c.k"
    assert(follows(s"SELECT $hint a.v AS av, b.v AS bv, c.v FROM $from", batches)._1 == 1)
    assert(follows(s"SELECT a.v AS av, b.v AS bv, c.v FROM $from", batches)._1 == 0)

    def appends(sql: String): ChangelogStream = {
      val fed = stream(schema, sql)
      fed.startAs("append", sql, hasKinds = false)
      batches.foreach(fed.feed)
      fed
    }
    val named = s"$a JOIN VALUES (1, 'x') AS d(k, n) ON a.k = d.k JOIN $b ON a.k = b.k"
    Seq(
      s"SELECT $hint a.v, c.v AS cv FROM $from" -> (1, 2),
      s"SELECT a.v FROM $from" -> (0, 0),
      s"SELECT /*+ STATE_TTL('a=1d') */ a.v FROM $from" -> (0, 2),
      s"SELECT /*+ STATE_TTL('a=1d') */ d.n, b.v FROM $named" -> (0, 1)
    ).foreach {
      case (sql, wanted) =>
        val fed = appends(sql)
        try {
          assert(again(fed) == wanted)
          assert(ChangelogStream.bag(fed.emitted.toSeq) == ChangelogStream.bag(fed.answer()))
        } finally fed.stop()
    }
    // A checkpoint that Spark's join began goes on as Spark's.
    val sparks = appends(s"SELECT a.v FROM $from")
    sparks.stop()
    Seq(hint, "/*+ STATE_TTL('1d') */").foreach { its =>
      val warnings = Warnings.of {
        sparks.startAs("append", s"SELECT $its a.v FROM $from", hasKinds = false)
      }
      try {
        batches.foreach(sparks.feed)
        assert(again(sparks) == (0, 0))
        assert(ChangelogStream.bag(sparks.emitted.toSeq) == ChangelogStream.bag(sparks.answer()))
        assert(warnings.exists(_.contains("MULTI_JOIN has no effect")), warnings)
      } finally sparks.stop()
    }
    val wrong = Seq(
      "MULTI_JOIN(a)" -> "FIRESTEEL_CHANGELOG_BAD_MULTI_JOIN",
      "MULTI_JOIN(a, x)" -> "FIRESTEEL_CHANGELOG_NO_MULTI_JOIN_INPUT")
    wrong.foreach { case (text, condition) =>
      val fed = stream(schema, "SELECT * FROM {t}")
      val its =
        intercept[AnalysisException](fed.startAs("append", s"SELECT /*+ $text */ a.v FROM $from"))
      assert(its.getCondition == condition)
    }
  }

  private val types = Seq("INNER", "INNER", "LEFT", "LEFT SEMI", "LEFT ANTI")
  private val names = Seq("a", "b", "c", "d")

  private val query: Gen[String] = for {
    n <- Gen.choose(3, 4)
    chosen <- Gen.listOfN(n - 1, Gen.oneOf(types))
    keys <- Gen.listOfN(n - 1, Gen.oneOf("=", "=", "=", "<=>"))
    conditions <- Gen.listOfN(n - 1, Gen.oneOf("", "", "", " AND a.v < {}.v"))
    key <- Gen.oneOf("k", "g", "d")
    hinted <- Gen.oneOf(true, false)
    groups <- Gen.listOfN(n, Gen.frequency(3 -> false, 1 -> true))
  } yield {
    def side(i: Int) =
      if (groups(i))
        s"(SELECT $key, max(v) v, count(*) id FROM {${names(i)}} GROUP BY $key) ${names(i)}"
      else s"(SELECT $key, v, id FROM {${names(i)}}) ${names(i)}"
    val joins = (1 until n).map { i =>
      val of = names(i)
      val more = if (chosen(i - 1) == "INNER") conditions(i - 1).replace("{}", of) else ""
      s"${chosen(i - 1)} JOIN ${side(i)} ON a.$key ${keys(i - 1)} $of.$key$more"
    }
    val shown =
      names.head +: (1 until n).filter(i => Set("INNER", "LEFT")(chosen(i - 1))).map(names)
    val hint = if (hinted) names.take(n).mkString("/*+ MULTI_JOIN(", ", ", ") */ ") else ""
    s"SELECT $hint${shown.map(s => s"$s.$key AS ${s}k, $s.v AS ${s}v, $s.id AS ${s}i").mkString(", ")} " +
      s"FROM ${side(0)} ${joins.mkString(" ")}"
  }

  test("random chains over random changelogs are the batch query's answer") {
    val first = TestSize.seed(20261130L)
    val found = (0 until TestSize.cases(6, inLong = 500)).map { i =>
      val all = for {
        sql <- query
        (source, rows) <- RandomChangelogs.inputs(names)
        provider <- Gen.frequency(3 -> hdfs, 1 -> rocksDb)
        restarts <- Gen.oneOf(Set.empty[Int], Set(2))
        buffered <- Gen.oneOf(100000, 3)
      } yield (sql, source, rows, provider, restarts, buffered)
      val (sql, source, rows, provider, restarts, buffered) =
        all.pureApply(Gen.Parameters.default, Seed(first + i))
      withConf(interpreted :+ (ChangelogConf.MAX_BUFFERED_ROWS.key -> (buffered: Any)) :+
        (SQLConf.SHUFFLE_PARTITIONS.key -> (2: Any)): _*) {
        withProvider(provider) {
          withClue(s"case ${first + i}") {
            follows(sql, rows, source, RandomChangelogs.schemaOfInputs, restarts)._1
          }
        }
      }
    }
    assert(found.exists(_ > 0))
  }
}
