package io.firesteel.changelog.statements

import io.firesteel.changelog.ChangelogSuite

import org.apache.spark.sql.AnalysisException
import org.apache.spark.sql.firesteel.hasEmptyStores
import org.apache.spark.sql.functions.{col, count, lit, window}
import org.scalatest.{Assertion, Inspectors}

/** Statements that leave a set, and statements that come into one. */
class StatementEditSuite extends ChangelogSuite {
  import EditedSet.{kinds, Of}

  private val sums = Of("sums", s"SELECT *$kinds FROM {sums}")
  private val big = Of("big", s"SELECT k, s$kinds FROM {sums} WHERE s > 4")
  private val total = Of("total", s"SELECT sum(s) AS t, count(*) AS c$kinds FROM {sums}")
  private val best = Of("best", s"SELECT *$kinds FROM {top}")
  private val counts = Of("counts", s"SELECT v, count(*) AS c$kinds FROM {t} GROUP BY v")
  private val ofTop = Of("ofTop", s"SELECT count(*) AS c, sum(v) AS s$kinds FROM {top}")
  private val rows = Of("rows", "SELECT k, v FROM {t} WHERE v > 1")
  private val all = Of("all", "SELECT * FROM {sums}", "complete")

  private def withSet(by: String = hdfs)(test: EditedSet => Assertion): Assertion =
    withProvider(by) {
      val set = new EditedSet(spark)
      set.add("a" -> 1, "a" -> 5, "b" -> 2)
      set.add("b" -> 9, "c" -> 1)
      test(set)
    }

  /** Runs the statements over one more file, and compares. */
  private def follows(set: EditedSet, statements: Of*): Assertion = {
    set.add("a" -> 3, "c" -> 4, "d" -> statements.size)
    val _ = set.run(statements: _*)
    assert(set.differences(statements: _*) == Nil)
  }

  test("a statement that leaves takes its own state with it, and what is shared stays") {
    Inspectors.forAll(Seq(hdfs, rocksDb)) { by =>
      withSet(by) { set =>
        follows(set, counts, total, sums, best, big)
        assert(set.operators.size == 4)
        // An operator before those of the others, then one behind them.
        follows(set, total, sums, best, big)
        assert(set.operators.size == 3)
        follows(set, sums, big, total)
        assert(set.operators.size == 2)
        // One reader of the shared part is left: it stays as it is.
        follows(set, big)
        assert(set.operators.size == 1)
        follows(set, big)
      }
    }
  }

  test("a statement whose aggregate Spark runs by itself leaves") {
    val sparks = Of(
      "sparks",
      "SELECT timestamp_seconds(v) AS ts FROM {t}",
      own = _.withWatermark("ts", "1 second").groupBy(window(col("ts"), "2 seconds")).count()
        .observe("seen", count(lit(1)))
    )
    withSet() { set =>
      set.run(sparks, counts, sums, big)
      assert(set.operators.size == 3 && set.differences(counts, sums, big) == Nil)
      follows(set, sums, counts, big)
      assert(set.operators.size == 2)
      follows(set, ofTop.begins("start"), counts, big)
    }
  }

  test("statements may stand in another order") {
    withSet() { set =>
      // The same part by other names.
      val named = Of(
        "named",
        s"SELECT x, m$kinds FROM (SELECT y.k AS x, count(*) AS m, sum(y.v) AS u FROM {t} AS y GROUP BY y.k)")
      follows(set, counts, best, sums, total, all, named)
      follows(set, named, all, total, best, counts, sums)
      follows(set, total, named, all)
      follows(set, named, all)
    }
  }

  test("a statement begins at the start: it has all rows, also without new ones") {
    Inspectors.forAll(Seq(hdfs, rocksDb).filter(_ == hdfs || hasEmptyStores)) { by =>
      withSet(by) { set =>
        follows(set, sums, big)
        val begun = Seq(ofTop, counts, all, rows).map(_.begins("start"))
        val _ = set.run(sums +: begun.head +: big +: begun.tail: _*)
        assert(set.differences(sums +: big +: begun: _*) == Nil)
        follows(set, sums +: begun.head +: big +: begun.tail: _*)
        // They may leave again, and come again.
        follows(set, ofTop, sums, big, rows)
        set.forget("counts")
        follows(set, ofTop, sums, counts.begins("start"), big, rows)
        follows(set, ofTop, counts, rows)
      }
    }
  }

  test("a statement that begins now has the rows that come") {
    withSet() { set =>
      follows(set, sums, big)
      set.add("x" -> 7, "y" -> 1)
      val _ = set.run(rows.begins("now"), sums, big)
      assert(set.differences(sums, big) == Nil)
      assert(set.rows("rows") == Map("[x, 7]" -> 1))
      set.add("z" -> 8)
      val _ = set.run(rows, sums, big)
      assert(set.rows("rows") == Map("[x, 7]" -> 1, "[z, 8]" -> 1))
    }
  }

  test("an edit in the middle of a micro-batch") {
    withSet() { set =>
      follows(set, sums, counts, big)
      set.add("a" -> 8, "e" -> 2)
      set.failing = "big"
      intercept[Exception](set.run(sums, counts, big))
      set.failing = ""
      // `counts` has the rows of the micro-batch, and leaves; `ofTop` begins with it.
      val now = Seq(big, ofTop.begins("start"), sums)
      set.failing = "ofTop"
      intercept[Exception](set.run(now: _*))
      set.failing = ""
      follows(set, now: _*)
      follows(set, now: _*)
    }
  }

  test("parts of equal keys in two statements, and a query that is changed before an edit") {
    withSet() { set =>
      val one = Of("one", s"SELECT k, n$kinds FROM {sums}")
      val left = Of("left", s"SELECT a.k, b.v$kinds FROM {sums} a LEFT JOIN {top} b ON a.k = b.k")
      val inner = Of("inner", s"SELECT a.k, b.v$kinds FROM {sums} a JOIN {top} b ON a.k = b.k")
      follows(set, left, inner, one)
      follows(set, left, inner, one)
      set.add("a" -> 4)
      val less = one.copy(sql = s"SELECT k$kinds FROM {sums}")
      val refused = intercept[AnalysisException](set.run(left, inner, less))
      assert(refused.getCondition == "FIRESTEEL_CHANGELOG_STATE_MISMATCH")
      follows(set, inner, left)
      follows(set, left)
    }
  }

  test("another filter in a shared part goes on, and the set may be changed then") {
    withSet() { set =>
      def shared(least: Int) = s"(SELECT k, count(*) AS n FROM {t} WHERE v >= $least GROUP BY k)"
      def two(least: Int) = Seq(
        Of("all", s"SELECT *$kinds FROM ${shared(least)}"),
        Of("some", s"SELECT k$kinds FROM ${shared(least)} WHERE n > 1"))
      follows(set, two(0) :+ best: _*)
      // No row is below 1, so the answers stay those of the batch query.
      follows(set, two(1) :+ best: _*)
      follows(set, two(1).head, best)
      // A part that is where another was would have the state of that one.
      def swapped(least: Int) = two(least).map(its => its.copy(name = s"${its.name}$least"))
      val other = new EditedSet(spark)
      other.add("a" -> 3, "b" -> 1)
      val (one, three) = (swapped(1), swapped(3))
      val _ = other.run(one ++ three: _*)
      val moved = one.zip(three).map { case (a, b) => a.copy(sql = b.sql) } ++
        three.zip(one).map { case (a, b) => a.copy(sql = b.sql) }
      val refused = intercept[AnalysisException](other.run(moved: _*))
      assert(refused.getCondition == "FIRESTEEL_CHANGELOG_OTHER_PARTS")
    }
  }

  test("a statement that left comes back when its last micro-batch has ended") {
    withSet() { set =>
      follows(set, sums, counts, big)
      set.add("a" -> 8)
      set.failing = "big"
      intercept[Exception](set.run(sums, counts, big))
      intercept[Exception](set.run(sums, big))
      val refused = intercept[AnalysisException](set.run(sums, counts.begins("start"), big))
      assert(refused.getMessage.contains("it left the set in a micro-batch that has not ended"))
      set.failing = ""
      follows(set, sums, big)
      set.forget("counts")
      follows(set, sums, counts.begins("start"), big)
    }
  }

  test("a statement that left between micro-batches comes back at once") {
    withSet() { set =>
      follows(set, sums, counts, big)
      set.run(sums, big)
      set.forget("counts")
      follows(set, sums, counts.begins("start"), big)
    }
  }

  test("a query that reads more of a part is refused, and the one before goes on") {
    val n = Of("n", s"SELECT k, n$kinds FROM {sums}")
    val other = Of("other", s"SELECT n, k$kinds FROM {sums} WHERE n > 0")
    withSet() { set =>
      follows(set, n, other, counts)
      set.add("a" -> 7)
      intercept[Exception](set.run(n, other.copy(sql = s"SELECT s, k$kinds FROM {sums}"), counts))
      follows(set, n, other, counts)
      follows(set, n, other)
    }
  }

  test("what all readers ask of a part's keys is asked below it, also when one of them leaves") {
    withSet() { set =>
      val few = Of("few", s"SELECT k, s$kinds FROM {sums} WHERE k < 'b' AND s > 0")
      val others = Of("others", s"SELECT k, n$kinds FROM {sums} WHERE k = 'c'")
      def kept(set: EditedSet, statements: Of*) = {
        set.add("a" -> 3, "b" -> 1, "c" -> 4, "d" -> statements.size)
        val query = set.run(statements: _*)
        assert(set.differences(statements: _*) == Nil)
        query.lastProgress.stateOperators.map(_.numRowsTotal).sum
      }
      assert(kept(set, few, others) == 2L)
      kept(set, others, few)
      kept(set, others)
      set.forget("few")
      kept(set, few.begins("start"), others)
      // A reader without a condition reads all.
      assert(kept(new EditedSet(spark), few, others, sums) == 4L)
    }
  }

  test("another filter above a shared part is refused: rows would stay in the target") {
    withSet() { set =>
      follows(set, sums, big, counts)
      set.add("a" -> 7)
      val bigger = big.copy(sql = s"SELECT k, s$kinds FROM {sums} WHERE s > 6")
      Seq(Seq(sums, bigger, counts), Seq(sums, bigger)).foreach { statements =>
        val error = intercept[AnalysisException](set.run(statements: _*))
        assert(error.getCondition == "FIRESTEEL_CHANGELOG_STATE_MISMATCH")
      }
      follows(set, sums, big)
    }
  }

  test("another filter between two shared parts is refused") {
    withSet() { set =>
      def filtered(least: Int) = s"(SELECT k, n FROM {sums} WHERE n > $least)"
      def all(least: Int) = Seq(
        sums,
        Of("some", s"SELECT k, n$kinds FROM ${filtered(least)}"),
        Of("twice", s"SELECT k, n * 2 AS n$kinds FROM ${filtered(least)}"))
      follows(set, all(1): _*)
      set.add("a" -> 7)
      val refused = intercept[AnalysisException](set.run(all(2): _*))
      assert(refused.getCondition == "FIRESTEEL_CHANGELOG_STATE_MISMATCH")
      follows(set, all(1): _*)
    }
  }

  test("a query that is changed before the first micro-batch has ended") {
    val late = Of("late", s"SELECT k, max(v) AS m$kinds FROM {t} GROUP BY k")
    val plain = Of("late", "SELECT k, v FROM {t}")
    def wrong(its: Of) = its.copy(sql = its.sql.replace("v", "(1 / (v - v))"))
    Inspectors.forAll(Seq(late -> plain, plain -> late)) { case (before, after) =>
      withSet() { set =>
        intercept[Exception](set.run(wrong(before), counts, big))
        follows(set, after, counts, big)
        follows(set, after, big)
        follows(set, big, ofTop.begins("start"))
        assert(set.operators.size == 3)
      }
    }
  }

  test("a query that is changed when a target may have the first micro-batch") {
    val late = Of("late", s"SELECT k, max(v) AS m$kinds FROM {t} GROUP BY k")
    withSet() { set =>
      set.failing = "late"
      intercept[Exception](set.run(late, big))
      set.failing = ""
      val error = intercept[AnalysisException](set.run(Of("late", "SELECT k, v FROM {t}"), big))
      assert(error.getCondition == "FIRESTEEL_CHANGELOG_OTHER_PARTS")
      follows(set, late, big)
    }
  }

  test("a table of changes is the same for two statements, and may be read twice") {
    spark.sql("SELECT * FROM VALUES ('a', 'x', '+I'), ('a', 'y', '+U') AS c(k, n, op)").coalesce(1)
      .createOrReplaceTempView("changes")
    val named = "(SELECT t.k, t.v, n.n FROM {t} t JOIN " +
      "from_changelog(TABLE(changes), keys => array('k')) n ON t.k = n.k)"
    val twice = "WITH n AS (SELECT * FROM from_changelog(TABLE(changes), keys => array('k'))) " +
      s"SELECT t.k, count(*) AS c$kinds FROM {t} t JOIN n ON t.k = n.k JOIN n m ON t.k = m.k GROUP BY t.k"
    withSet() { set =>
      follows(
        set,
        Of("one", s"SELECT * FROM $named WHERE v > 1"),
        Of("other", s"SELECT * FROM $named WHERE v <= 1"),
        Of("twice", twice))
    }
  }

  test("a changed query of values that were kept has none of the rows before") {
    val told = Of("told", "SELECT k, v, length(uuid()) AS id FROM {t}")
    withSet() { set =>
      follows(set, told)
      set.failing = "told"
      set.add("a" -> 1, "b" -> 7)
      intercept[Exception](set.run(told))
      set.failing = ""
      val changed = told.copy(sql = s"${told.sql} WHERE v <> 7")
      val _ = set.run(changed)
      assert(set.differences(changed) == Nil)
    }
  }

  test("a statement leaves for which others did not share a part") {
    val files = Of("files", "SELECT input_file_name() AS f, v FROM {t}")
    val some = Of("some", "SELECT v FROM {t} WHERE v > 2")
    withSet() { set =>
      follows(set, rows, some, files)
      follows(set, rows, some)
      follows(set, rows, some)
      follows(set, rows, some, counts.begins("start"))
    }
  }

  test("operators that come after all others have left are read as the set began") {
    withSet() { set =>
      follows(set, rows, sums)
      follows(set, rows, ofTop.begins("start"))
      follows(set, rows, ofTop)
      follows(set, ofTop)
    }
  }

  test("a statement that comes later cannot read a table once") {
    withSet() { set =>
      val _ = set.run(sums)
      val table = "SELECT * FROM VALUES ('x'), ('a')"
      Seq(
        Of(
          "named",
          s"SELECT k, count(*) AS c$kinds FROM (SELECT k FROM {t} UNION ALL $table) GROUP BY k",
          from = "start"),
        Of("named", s"SELECT k FROM {sums} UNION ALL $table", "complete", from = "start")
      ).foreach { late =>
        val error = intercept[AnalysisException](set.run(sums, late))
        assert(error.getMessage.contains("The table of statement named"))
      }
      succeed
    }
  }

  test("what a set cannot become is refused, and it goes on as it was") {
    withSet() { set =>
      def refused(statements: Of*): String = {
        val error = intercept[AnalysisException](set.run(statements: _*))
        s"${error.getCondition} ${error.getMessage}"
      }
      follows(set, sums, big)
      assert(refused(sums, big, rows).startsWith("FIRESTEEL_CHANGELOG_OTHER_STATEMENTS"))
      assert(refused(sums, big.copy(mode = "update")).contains("OTHER_STATEMENTS"))
      assert(refused(sums, big, counts.begins("now")).contains("begin at the start"))
      assert(refused(sums, big, Of("changes", s"SELECT k$kinds FROM {sums}", from = "now"))
        .contains("begin at the start"))
      spark.readStream.format("rate").load().createOrReplaceTempView("ticks")
      val ticks = Of("ticks", "SELECT value FROM ticks", from = "now")
      assert(refused(sums, big, ticks).startsWith("FIRESTEEL_CHANGELOG_OTHER_SOURCES"))
      val timed = Of("timed", "SELECT k FROM {t}", from = "start")
      assert(refused(
        sums,
        Of("other", s"SELECT max(v) AS m$kinds FROM {t}")).contains("OTHER_STATEMENTS"))
      follows(set, sums, big)
      follows(set, sums, timed, big)
    }
  }
}
