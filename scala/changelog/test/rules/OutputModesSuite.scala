package io.firesteel.changelog.rules

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.plan.Selection
import io.firesteel.changelog.plan.parse.ParseQuery
import io.firesteel.core.decide.Explain
import io.firesteel.testkit.SinceSpark
import org.apache.spark.sql.{DataFrame, Encoders, Row}
import org.apache.spark.sql.firesteel.{executionOf, lastBatchOf}
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.functions.{col, count, countDistinct, desc, expr, max}
import org.apache.spark.sql.types.StructType

/** What each output mode gives, and what it refuses with the way on. */
class OutputModesSuite extends ChangelogSuite {

  private val words = "word STRING, n INT"
  private val distinct = "SELECT word, count(DISTINCT n) AS c FROM {t} GROUP BY word"
  private val cascade =
    "SELECT c, count(*) AS n FROM (SELECT word, count(*) AS c FROM {t} GROUP BY word) GROUP BY c"

  private def run[T](sql: String, mode: String)(body: ChangelogStream => T): T = {
    val fed = stream(words, sql)
    try {
      fed.startAs(mode, sql)
      body(fed)
    } finally fed.stop()
  }

  test("update mode gives each key's newest row") {
    run(distinct, "update") { fed =>
      fed.feed(Seq(Row("a", 1), Row("a", 2), Row("b", 1)))
      assert(fed.last.map(_.toString).sorted == Seq("[a,2]", "[b,1]"))
      fed.feed(Seq(Row("a", 2), Row("b", 5)))
      assert(fed.last.map(_.toString) == Seq("[b,2]"))
    }
  }

  test("update mode with row_kind() tells deletions too, and no row before an update") {
    val sql = cascade.replace("count(*) AS n", "count(*) AS n, row_kind() AS op")
    run(sql, "update") { fed =>
      fed.feed(Seq(Row("a", 1), Row("b", 1)))
      assert(fed.last.map(_.toString) == Seq("[1,2,+I]"))
      fed.feed(Seq(Row("a", 1), Row("b", 1), Row("c", 1), Row("d", 1), Row("d", 1)))
      assert(fed.last.map(_.toString).sorted == Seq("[1,1,+U]", "[2,3,+I]"))
      fed.feed(Seq(Row("c", 1)))
      assert(fed.last.map(_.toString).sorted == Seq("[1,1,-D]", "[2,4,+U]"))
    }
  }

  test("update mode refuses a query whose rows may be deleted, and says what works") {
    val text = refusal(words, cascade, "update")
    assert(text.contains("FIRESTEEL_CHANGELOG_NOT_AN_UPSERT") && text.contains("may be deleted"))
    assert(text.contains("row_kind()") && text.contains("complete mode"))
  }

  test("update mode refuses a query that leaves its key out") {
    val text = refusal(words, s"SELECT c FROM ($distinct)", "update")
    assert(text.contains("no columns of the result identify its rows"))
  }

  test("append mode without row_kind() refuses a result that changes, and gives one that grows") {
    assert(refusal(words, distinct).contains("FIRESTEEL_CHANGELOG_NOT_INSERT_ONLY"))
    val changes = "SELECT row_kind() AS op, word FROM {t} WHERE n > 1"
    run(changes, "append") { fed =>
      fed.feed(Seq(Row("a", 1), Row("b", 2)))
      assert(fed.last.map(_.toString) == Seq("[+I,b]"))
    }
  }

  test("complete mode gives the whole result, in the order asked for") {
    run(s"$cascade ORDER BY n DESC, c", "complete") { fed =>
      fed.feed(Seq(Row("a", 1), Row("b", 1), Row("c", 1), Row("c", 1)))
      assert(fed.last.map(_.toString) == Seq("[1,2]", "[2,1]"))
      fed.feed(Seq(Row("a", 1)))
      assert(fed.last.map(_.toString) == Seq("[2,2]", "[1,1]"))
      fed.feed(Seq(Row("b", 1)))
      assert(fed.last.map(_.toString) == Seq("[2,3]"))
    }
  }

  test("complete mode on RocksDB") {
    withProvider(rocksDb) {
      run(cascade, "complete") { fed =>
        fed.feed(Seq(Row("a", 1), Row("b", 1), Row("c", 1), Row("c", 1)))
        fed.feed(Seq(Row("a", 1)))
        assert(fed.last.map(_.toString).sorted == Seq("[1,1]", "[2,2]"))
      }
    }
  }

  test("complete mode of a Top-N keeps rows that are there twice") {
    val sql = "SELECT word FROM {t} ORDER BY word LIMIT 3"
    run(sql, "complete") { fed =>
      fed.feed(Seq(Row("b", 1), Row("c", 1), Row("d", 1)))
      fed.feed(Seq(Row("b", 2)))
      assert(fed.last.map(_.getString(0)) == Seq("b", "b", "c"))
    }
  }

  test("what Spark runs by itself stays Spark's own, to the node") {
    val sql = "SELECT word, count(*) AS c FROM {t} GROUP BY word"
    Seq("update", "complete").foreach { mode =>
      run(sql, mode) { fed =>
        fed.feed(Seq(Row("a", 1)))
        val plan = lastBatchOf(fed.running).get.executedPlan
        assert(!plan.treeString.contains("Changelog") && plan.treeString.contains("StateStoreSave"))
      }
    }
  }

  test("explain tells each operator's changelog mode and state, from above down") {
    val fed = stream(words, cascade)
    try {
      fed.start()
      fed.feed(Seq(Row("a", 1)))
      val fired = Explain.of(lastBatchOf(fed.running).get.executedPlan).fired
      assert(fired.map(_.values("changelogMode")) == Seq("[I,UB,UA,D]", "[I,UB,UA]"))
      assert(fired.forall(_.values("state").contains("aggregate_rows_count")))
    } finally fed.stop()
  }

  test("Spark's check of correctness may be off: its wrong answer is not given") {
    withConf("spark.sql.streaming.statefulOperator.checkCorrectness.enabled" -> false) {
      run(cascade, "complete") { fed =>
        fed.feed(Seq(Row("a", 1), Row("b", 1)))
        fed.feed(Seq(Row("a", 1)))
        assert(fed.last.map(_.toString).sorted == Seq("[1,1]", "[2,1]"))
      }
    }
  }

  test("row_kind() in a batch query is +I") {
    assert(spark.sql("SELECT row_kind(), count(*) FROM range(3)").collect().toSeq == Seq(Row(
      "+I",
      3)))
    assert(spark.range(2).selectExpr("row_kind() AS op").collect().toSeq == Seq(
      Row("+I"),
      Row("+I")))
  }

  test("switched off, Spark refuses the query, and row_kind() is refused") {
    withConf(ChangelogConf.ENABLED.key -> false) {
      assert(!refusal(words, distinct, "update").contains("FIRESTEEL"))
      val text = refusal(words, "SELECT word, row_kind() AS op FROM {t}")
      assert(text.contains("FIRESTEEL_CHANGELOG_SWITCHED_OFF"))
      assert(text.contains(ChangelogConf.ENABLED.key))
    }
  }

  Seq(
    "SELECT op, count(*) AS n FROM (SELECT row_kind() AS op FROM {t}) GROUP BY op" ->
      "FIRESTEEL_CHANGELOG_MISPLACED_ROW_KIND",
    "SELECT word FROM {t} WHERE row_kind() = '+I'" -> "FIRESTEEL_CHANGELOG_MISPLACED_ROW_KIND",
    "SELECT c, rand() AS r, row_kind() FROM (SELECT count(DISTINCT n) AS c FROM {t})" ->
      "FIRESTEEL_CHANGELOG_NOT_REPEATABLE",
    "SELECT c, CAST('now' AS TIMESTAMP) AS r, row_kind() FROM (SELECT count(DISTINCT n) AS c FROM {t})" ->
      "FIRESTEEL_CHANGELOG_NOT_REPEATABLE",
    "SELECT n, c, row_kind() FROM (SELECT *, row_number() OVER (ORDER BY c DESC, n) AS rn FROM (SELECT n, " +
      "count(*) AS c FROM {t} GROUP BY n)) WHERE rn <= day(current_date())" ->
      "FIRESTEEL_CHANGELOG_NOT_REPEATABLE",
    "SELECT c, CAST('today UTC' AS DATE) AS r, row_kind() FROM (SELECT count(DISTINCT n) AS c FROM {t})" ->
      "FIRESTEEL_CHANGELOG_NOT_REPEATABLE",
    "SELECT c, to_date(' Today') AS r, row_kind() FROM (SELECT count(DISTINCT n) AS c FROM {t})" ->
      "FIRESTEEL_CHANGELOG_NOT_REPEATABLE",
    "SELECT aes_encrypt(string(c), '0000111122223333') AS r, row_kind() FROM (SELECT count(DISTINCT n) AS c FROM {t})" ->
      "FIRESTEEL_CHANGELOG_NOT_REPEATABLE",
    "SELECT c, current_timestamp() AS r, row_kind() FROM (SELECT count(DISTINCT n) AS c FROM {t})" ->
      "FIRESTEEL_CHANGELOG_NOT_REPEATABLE",
    "SELECT map(word, n), count(DISTINCT n), row_kind() FROM {t} GROUP BY map(word, n)" ->
      "FIRESTEEL_CHANGELOG_UNSUPPORTED_TYPE",
    "SELECT count(DISTINCT n) AS c, row_kind() FROM {t} LIMIT 3" ->
      "FIRESTEEL_CHANGELOG_MISPLACED_ROW_KIND",
    // Spark computes it once for both.
    "WITH c AS (SELECT uuid() AS id FROM {t}) SELECT count(DISTINCT id), row_kind() FROM (" +
      "SELECT id FROM c UNION ALL SELECT id FROM c)" -> "FIRESTEEL_CHANGELOG_NOT_REPEATABLE",
    // A full sketch drops values by chance.
    "SELECT word, kll_sketch_agg_bigint(n, 8) AS s, row_kind() FROM {t} GROUP BY word" ->
      "FIRESTEEL_CHANGELOG_UNSUPPORTED_FUNCTION",
    "SELECT word, kll_sketch_agg_bigint(n, 8) OVER (PARTITION BY word) AS s, row_kind() FROM {t}" ->
      "FIRESTEEL_CHANGELOG_UNSUPPORTED_FUNCTION",
    "WITH c AS (SELECT uuid() AS id FROM {t}), d AS (SELECT id FROM c) SELECT count(DISTINCT id), " +
      "row_kind() FROM (SELECT id FROM d UNION ALL SELECT id FROM d)" ->
      "FIRESTEEL_CHANGELOG_NOT_REPEATABLE"
  ).foreach { case (sql, condition) =>
    test(s"$condition: $sql") {
      // Spark 4.0 has no such sketches.
      assume(SinceSpark.is("4.1") || !sql.contains("kll_"))
      assert(refusal(words, sql).contains(condition))
    }
  }

  test("complete mode in an order by what is not shown, and of its first rows") {
    val rows = Seq(Row("a", 1), Row("b", 1), Row("b", 2), Row("c", 1), Row("c", 2), Row("c", 3))
    Seq(
      "SELECT word FROM {t} GROUP BY word ORDER BY count(DISTINCT n) DESC" -> "[c] [b] [a]",
      "SELECT word FROM {t} GROUP BY word ORDER BY count(DISTINCT n) DESC LIMIT 2" -> "[c] [b]",
      s"$distinct ORDER BY c DESC LIMIT 2 OFFSET 1" -> "[b,2] [a,1]",
      s"$distinct ORDER BY c DESC LIMIT 1 + 1 OFFSET 3 - 2" -> "[b,2] [a,1]",
      s"$distinct ORDER BY c DESC OFFSET 1" -> "[b,2] [a,1]",
      s"SELECT c + 1 AS d FROM ($distinct ORDER BY c DESC LIMIT 2)" -> "[4] [3]",
      // What nothing reads is not kept: a map could not be.
      "SELECT word FROM (SELECT word, count(DISTINCT n) AS c, map(word, max(n)) AS m FROM {t} GROUP BY word " +
        "ORDER BY c DESC LIMIT 2)" -> "[c] [b]"
    ).foreach { case (sql, wanted) =>
      run(sql, "complete") { fed =>
        fed.feed(rows.take(3))
        fed.feed(rows.drop(3))
        assert(fed.last.mkString(" ") == wanted, sql)
      }
    }
  }

  test("complete mode in an order, of a DataFrame's first rows all but some") {
    val rows = Seq(Row("a", 1), Row("b", 1), Row("b", 2), Row("c", 1), Row("c", 2), Row("c", 3))
    val input = memoryStream[Row](spark)(Encoders.row(StructType.fromDDL(words)))
    val sorted = input.toDF().groupBy("word").agg(countDistinct("n").as("c"))
      .orderBy(desc("c")).limit(3).offset(1)
    var table = ""
    val query = sorted.writeStream.outputMode("complete").foreachBatch {
      (batch: DataFrame, _: Long) => table = batch.collect().mkString(" ")
    }.start()
    try {
      Seq(rows.drop(3), rows.take(3)).foreach { some =>
        input.addData(some)
        query.processAllAvailable()
      }
      assert(table == "[b,2] [a,1]")
    } finally query.stop()
  }

  test("a common table expression that always has the same answer may be read twice") {
    val sql = "WITH c AS (SELECT word FROM {t}) SELECT count(DISTINCT word) AS d, count(*) AS n, " +
      "row_kind() AS op FROM (SELECT word FROM c UNION ALL SELECT word FROM c)"
    run(sql, "append") { fed =>
      fed.feed(Seq(Row("a", 1), Row("b", 1)))
      assert(fed.last.map(_.toString) == Seq("[2,4,+I]"))
    }
  }

  test("HAVING beside row_kind() leaves groups out, and not some of their changes") {
    def told(having: String, more: String = "") =
      s"SELECT word, count(*) AS c$more, row_kind() AS op FROM {t} GROUP BY word HAVING $having"
    for {
      having <- Seq("count(*) BETWEEN 2 AND 3", "c BETWEEN 2 AND 3", "sum(n) BETWEEN 2 AND 3")
      more <- Seq("", ", c * 0 AS none", ", c * 0 AS none, none * 2 AS nothing")
    } {
      val shown = ",0" * more.count(_ == ',') // beside the count
      def changes(mode: String, wanted: String*) = run(told(having, more), mode) { fed =>
        wanted.foreach { rows =>
          fed.feed(Seq(Row("a", 1)))
          assert(
            fed.last.mkString(" ") == rows.replaceAll("(a,\\d)", s"$$1$shown"),
            s"$mode, $having$more")
        }
      }
      changes("append", "", "[a,2,+I]", "[a,2,-U] [a,3,+U]", "[a,3,-D]", "")
      changes("update", "", "[a,2,+I]", "[a,3,+U]", "[a,3,-D]", "")
    }
    run(
      "SELECT word, rand() AS r, concat(row_kind(), word) AS op FROM {t} GROUP BY word HAVING r < 0.5",
      "append") { fed =>
      fed.feed((1 to 50).map(i => Row(s"w$i", i)))
      assert(fed.last.size > 5 && fed.last.forall(row =>
        row.getDouble(1) < 0.5 && row.getString(2) == s"+I${row.getString(0)}"))
    }
    // A column of the kinds, which the condition does not ask for.
    run(
      "SELECT word, count(*) AS c, row_kind() AS kind, kind = '-D' AS gone, kind AS op FROM {t} GROUP BY word HAVING c = 2",
      "append") { fed =>
      Seq("", "[a,2,+I,false,+I]", "[a,2,-D,true,-D]").foreach { rows =>
        fed.feed(Seq(Row("a", 1)))
        assert(fed.last.mkString(" ") == rows)
      }
    }
    // What asks for the kinds, or stands above a query that tells them, is asked of the changes.
    Seq(
      told("op = '+U'"),
      s"SELECT * FROM (${told("true")}) WHERE op = '+U'").foreach { sql =>
      run(sql, "append") { fed =>
        fed.feed(Seq(Row("a", 1)))
        assert(fed.last.isEmpty)
        fed.feed(Seq(Row("a", 1)))
        assert(fed.last.mkString == "[a,2,+U]", sql)
      }
    }
  }

  SinceSpark("4.2") {
    test("QUALIFY beside row_kind() leaves rows out, and not some of their changes") {
      val told =
        "SELECT word, n, row_kind() AS op FROM {t} QUALIFY row_number() OVER (PARTITION BY word ORDER BY n) = 1"
      Seq(
        told -> "[a,5,+I] [a,5,-U] [a,3,+U]",
        "SELECT word, count(*) AS c, concat(row_kind(), word) AS op FROM {t} GROUP BY word HAVING c < 9 " +
          "QUALIFY row_number() OVER (ORDER BY c DESC) <= 1" -> "[a,1,+Ia] [a,1,-Ua] [a,2,+Ua]",
        s"SELECT * FROM ($told) WHERE op = '+U'" -> "[a,3,+U]"
      ).foreach { case (sql, wanted) =>
        run(sql, "append") { fed =>
          fed.feed(Seq(Row("a", 5)))
          fed.feed(Seq(Row("a", 3)))
          assert(fed.emitted.mkString(" ") == wanted, sql)
        }
      }
      val nested = "SELECT * FROM (SELECT word, n, row_kind() AS op FROM {t}) " +
        "QUALIFY row_number() OVER (PARTITION BY word ORDER BY n) = 1"
      assert(refusal(words, nested).contains("MISPLACED_ROW_KIND"))
    }
  }

  test("a DataFrame's where() above its select() of kinds asks each change, and above its agg() is HAVING") {
    val counted = memoryStream[Row](spark)(Encoders.row(StructType.fromDDL(words))).toDF()
      .groupBy("word").agg(count("*").as("c"))
    def isHaving(query: DataFrame): Boolean = {
      val read = new ParseQuery(true, None).read(executionOf(query).analyzed)
      !read.isInstanceOf[Selection]
    }
    val kinds = expr("row_kind() AS op")
    Seq("true", "false").foreach { tagged =>
      withConf("spark.sql.analyzer.failAmbiguousSelfJoin" -> tagged) {
        assert(!isHaving(counted.select(col("*"), kinds).where("c = 2")))
        assert(!isHaving(counted.select(
          col("c"),
          col("word")).select(col("*"), kinds).where("c = 2")))
        assert(!isHaving(counted.select(col("*"), kinds).where("current_date() > '2020-01-01'")))
        assert(isHaving(counted.groupBy("word").agg(max("c").as("c"), kinds).where("c = 2")))
      }
    }
    assert(!isHaving(counted.select(
      col("*"),
      expr("c + 1 AS d")).select(col("*"), kinds).where("c = 2")))
  }

  test("the time of a change, above row_kind()") {
    val told = "SELECT word, count(DISTINCT n) AS c, row_kind() AS op FROM {t} GROUP BY word"
    val timed = s"SELECT word, c, current_date() AS day, current_timestamp() AS at, op FROM ($told)"
    run(timed, "append") { fed =>
      fed.feed(Seq(Row("a", 1)))
      fed.feed(Seq(Row("a", 2)))
      assert(fed.emitted.map(_.getString(4)) == Seq("+I", "-U", "+U"))
      assert(!fed.emitted(2).getTimestamp(3).before(fed.emitted.head.getTimestamp(3)))
    }
  }

  test("what is refused is called as its user wrote it, and what is advised is not there yet") {
    Seq(
      "SELECT a.n, row_kind() FROM {t} a LEFT JOIN {t} b ON a.n = b.n AND a.n > (SELECT max(id) FROM range(2))" ->
        Seq("(SELECT ...)", "as a column of its side"),
      "SELECT count(DISTINCT n), row_kind() FROM {t} GROUP BY map(word, n + 1)" ->
        Seq("the column map(word, (n + 1)) of type MAP")
    ).foreach { case (sql, wanted) =>
      val text = refusal(words, sql)
      assert(wanted.forall(text.contains) && !text.contains("_column"), text)
    }
  }

  test("tables beside a changelog, joined by a WHERE") {
    val fed = stream(
      words,
      "SELECT word, label FROM (SELECT word, count(*) AS c FROM {t} GROUP BY word) AS a, " +
        "(SELECT id, concat('x', id) AS label FROM range(4)) AS b WHERE a.c = b.id AND b.id > 1"
    )
    try {
      fed.start()
      Seq(Row("a", 1), Row("a", 1), Row("b", 1)).foreach { row =>
        fed.feed(Seq(row))
        assert(fed.difference.isEmpty, fed.difference)
      }
    } finally fed.stop()
  }

  test("update mode with row_kind() refuses a key that is lost above it") {
    val told = "SELECT word, count(DISTINCT n) AS c, row_kind() AS op FROM {t} GROUP BY word"
    assert(refusal(words, s"SELECT c, op FROM ($told) WHERE word <> 'x'", "update")
      .contains("NOT_AN_UPSERT"))
    run(s"SELECT word AS w, c, op FROM ($told) WHERE word <> 'x'", "update") { fed =>
      fed.feed(Seq(Row("a", 1), Row("x", 1)))
      assert(fed.last.map(_.toString) == Seq("[a,1,+I]"))
    }
  }

  test("the start and the end of a window of time identify it") {
    val by = "window(timestamp_seconds(n), '1 minute')"
    run(
      s"SELECT window.start AS s, count(DISTINCT word) AS c, window.end AS e FROM {t} GROUP BY $by",
      "update") { fed =>
      fed.feed(Seq(Row("a", 1), Row("b", 2), Row("a", 61)))
      assert(fed.last.map(_.getLong(1)).sorted == Seq(1L, 2L))
    }
    Seq("hour(window.start) AS s, window.end AS e", "window.start AS s").foreach { columns =>
      val lost = s"SELECT $columns, count(DISTINCT word) AS c FROM {t} GROUP BY $by"
      assert(refusal(words, lost, "update").contains("NOT_AN_UPSERT"))
    }
  }
}
