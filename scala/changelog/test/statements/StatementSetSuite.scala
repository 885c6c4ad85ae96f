package io.firesteel.changelog.statements

import io.firesteel.changelog.ChangelogSuite
import io.firesteel.changelog.plan.share.{SharedPlansExec, SharedViewExec}
import io.firesteel.changelog.rules.ExplainStream

import java.nio.file.{Files, Path}

import org.apache.spark.sql.{AnalysisException, DataFrame, Encoders, Row}
import org.apache.spark.sql.catalyst.plans.logical.Filter
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.firesteel.streaming.{memoryStream, StateStoreWriter, StreamingQueryWrapper}
import org.apache.spark.sql.functions.{col, udf}
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.StructType
import org.scalatest.Assertion

/** Several statements as one query: what they share is computed once, and each has its rows. */
class StatementSetSuite extends ChangelogSuite {
  import FedStatements.{kinds, Statement}

  private val schema = StructType.fromDDL("k STRING, v INT")
  private val batches = Seq(
    Seq(Row("a", 1), Row("a", 5), Row("b", 2), Row(null, 3)),
    Seq(Row("b", 9), Row("c", 1), Row("a", 7), Row("c", null)),
    Seq(Row("c", 8), Row("d", 4), Row(null, 6)),
    Seq(Row("a", 2), Row("d", 4))
  )

  private val sums = "SELECT k, count(*) AS n, sum(v) AS s FROM {t} GROUP BY k"
  private val top =
    "SELECT k, v, place FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v DESC) AS place " +
      "FROM {t}) WHERE place <= 2"

  private def planOf(set: FedStatements): SparkPlan =
    set.running.asInstanceOf[StreamingQueryWrapper].streamingQuery.lastExecution.executedPlan

  private def parts(set: FedStatements): Seq[String] =
    planOf(set).collect { case shared: SharedPlansExec => shared.parts.map(_.toString) }.flatten

  private def operators(set: FedStatements): Seq[String] =
    set.running.recentProgress.filter(_.numInputRows > 0).last.stateOperators.toSeq
      .map(_.operatorName.split(' ').head)

  private def follows(
      statements: Seq[Statement],
      views: Seq[(String, String)] = Nil,
      restarts: Set[Int] = Set(2),
      by: Seq[String] = Seq(hdfs))(check: FedStatements => Assertion): Unit =
    by.foreach { provider =>
      withProvider(provider) {
        val set = new FedStatements(spark, schema, statements, views)
        try {
          set.start()
          batches.zipWithIndex.foreach { case (rows, i) =>
            if (restarts(i)) set.restart()
            set.feed(rows)
            assert(set.differences == Nil)
          }
          check(set)
        } finally set.stop()
      }
    }

  /** A micro-batch that fails in its sink has the same rows when it is repeated. */
  private def repeats(set: FedStatements, rows: Seq[Row]): Assertion = {
    var before = Seq.empty[Seq[Row]]
    set.failing = before = _
    set.failAt(rows)
    assert(before.nonEmpty && set.last.map(_.toSet) == before.map(_.toSet))
  }

  test("one state for a view that two statements read") {
    follows(
      Seq(
        Statement(s"SELECT k, s$kinds FROM {sums} WHERE s > 4"),
        Statement(s"SELECT *$kinds FROM {sums}"),
        Statement(s"SELECT n + 1 AS m, k$kinds FROM {sums} WHERE k <> 'a'")
      ),
      Seq("sums" -> sums)
    ) { set =>
      assert(operators(set) == Seq("changelogAggregate"))
      assert(parts(set) == Seq("Aggregate 0"))
    }
  }

  test("statements with operators of their own above a view, and parts of parts") {
    follows(
      Seq(
        Statement(s"SELECT n, count(*) AS c$kinds FROM {sums} GROUP BY n"),
        Statement(s"SELECT max(s) AS m$kinds FROM {sums}"),
        Statement(s"SELECT k, v, n$kinds FROM {joined} WHERE place = 1"),
        Statement(s"SELECT *$kinds FROM {joined}")
      ),
      Seq(
        "sums" -> sums,
        "top" -> top,
        "joined" -> "SELECT t.k, t.v, t.place, s.n FROM {top} t JOIN {sums} s ON t.k = s.k"),
      by = providers
    ) { set =>
      assert(parts(set).map(_.split(" ").head) == Seq(
        "rows",
        "Aggregate",
        "INNER",
        "statement",
        "statement"))
      // The Top-N may share the store of the join.
      val (joins, groups) = operators(set).partition(_ != "changelogAggregate")
      assert(groups.size == 3 && joins.toSet.subsetOf(Set("changelogJoin", "changelogTopN")))
    }
  }

  test("each statement has its own output mode") {
    follows(
      Seq(
        Statement(s"SELECT *$kinds FROM {sums}"),
        Statement("SELECT * FROM {sums}", "complete"),
        Statement("SELECT v, k FROM {t} WHERE v > 2"),
        Statement("SELECT k FROM {sums} WHERE s > 3", "complete")
      ),
      Seq("sums" -> sums)
    )(set => assert(operators(set).count(_ == "changelogAggregate") == 2))
  }

  test("values that differ each time are the same for all statements") {
    val set = new FedStatements(
      spark,
      schema,
      Seq(Statement("SELECT k, id FROM {ids}"), Statement("SELECT id, v FROM {ids} WHERE v > 1")),
      Seq("ids" -> "SELECT *, uuid() AS id FROM {t}")
    )
    try {
      set.start()
      set.feed(batches.head)
      val (all, some) = (set.last.head, set.last.last)
      assert(all.size == 4 && some.size == 3)
      assert(some.map(_.getString(0)).toSet.subsetOf(all.map(_.getString(1)).toSet))
      // Also in a micro-batch that is repeated.
      batches.tail.foreach(repeats(set, _))
    } finally set.stop()
  }

  test("a micro-batch that failed is repeated") {
    providers.foreach { provider =>
      withProvider(provider) {
        val set = new FedStatements(
          spark,
          schema,
          Seq(
            Statement(s"SELECT *$kinds FROM {sums}"),
            Statement(s"SELECT sum(n) AS n$kinds FROM {sums}")),
          Seq("sums" -> sums))
        try {
          set.start()
          batches.zipWithIndex.foreach { case (rows, i) =>
            if (i % 2 == 1) set.failAt(rows) else set.feed(rows)
            assert(set.differences == Nil)
          }
        } finally set.stop()
      }
    }
  }

  test("a source is read once") {
    follows(Seq(
      Statement(s"SELECT k, count(*) AS n$kinds FROM {t} GROUP BY k"),
      Statement(s"SELECT v, count(*) AS n$kinds FROM {t} GROUP BY v"),
      Statement("SELECT * FROM {t}")
    )) { set =>
      val progress = set.running.recentProgress.filter(_.numInputRows > 0).last
      assert(progress.sources.length == 1 && progress.numInputRows == batches.last.size)
    }
  }

  test("a view of SQL text is one view, and its values are the same for all") {
    val set = new FedStatements(
      spark,
      schema,
      Seq(
        Statement("SELECT id, k FROM told WHERE v > 0"),
        Statement("SELECT id FROM told WHERE v > 1")))
    spark.sql(set.readingOf("CREATE OR REPLACE TEMP VIEW told AS SELECT *, uuid() AS id FROM {t}"))
    try {
      set.start()
      set.feed(batches.head)
      val (all, some) = (set.last.head.map(_.getString(0)), set.last.last.map(_.getString(0)))
      assert(some.size == 3 && some.forall(all.contains))
    } finally set.stop()
  }

  test("values above an operator with state, in a micro-batch that is repeated") {
    val set = new FedStatements(
      spark,
      schema,
      Seq(Statement("SELECT id, k FROM {told}"), Statement("SELECT id FROM {told} WHERE k = 'a'")),
      Seq("told" -> "SELECT *, uuid() AS id FROM (SELECT DISTINCT k FROM {t})")
    )
    try {
      set.start()
      batches.foreach(repeats(set, _))
      assert(set.seen.head.size == 5)
    } finally set.stop()
  }

  test("values of one statement, in a micro-batch that is repeated") {
    val set = new FedStatements(spark, schema, Seq(Statement("SELECT *, uuid() AS id FROM {t}")))
    try {
      set.start()
      batches.foreach(repeats(set, _))
    } finally set.stop()
  }

  test("values above row_kind(), and those that Spark takes for deterministic, repeated") {
    val told = "FROM (SELECT *, row_kind() AS kind FROM {sums})"
    Seq(
      s"SELECT uuid() AS id, * $told",
      "SELECT *, now() AS at FROM {t}",
      "SELECT k, hex(aes_encrypt(k, '0000111122223333')) AS e FROM {t}",
      s"SELECT k, hex(aes_encrypt(k, '0000111122223333')) AS e, kind $told",
      s"SELECT k, n, CAST('now' AS TIMESTAMP) AS at $told"
    ).foreach { sql =>
      // The other statement may read the same part.
      Seq("SELECT k FROM {t}", "SELECT k, n, row_kind() AS what FROM {sums}").foreach { other =>
        val set = new FedStatements(
          spark,
          schema,
          Seq(Statement(sql), Statement(other)),
          Seq("sums" -> sums))
        try {
          set.start()
          batches.foreach(repeats(set, _))
        } finally set.stop()
      }
    }
  }

  test("now() in the condition of a join with a table") {
    val set = new FedStatements(
      spark,
      schema,
      Seq(
        Statement(
          "SELECT k, id FROM {t} LEFT JOIN range(9) ON v = id AND now() > TIMESTAMP '2020-01-01'"),
        Statement("SELECT now() AS at FROM {t}"))
    )
    try {
      set.start()
      set.feed(batches.head)
      assert(set.last.map(_.size) == Seq(4, 4) && set.last.head.exists(!_.isNullAt(1)))
    } finally set.stop()
  }

  test("values of a table beside the stream, in a micro-batch that is repeated") {
    val set = new FedStatements(
      spark,
      schema,
      Seq(Statement("SELECT k, r FROM {told}"), Statement("SELECT r FROM {told}")),
      Seq(
        "few" -> "SELECT id, rand() AS r FROM range(10)",
        "told" -> "SELECT k, r FROM {t} JOIN {few} ON v = id")
    )
    var kept = false
    try {
      set.start()
      set.failing = _ => kept = Files.exists(Path.of(set.checkpoint, "statements", "rows"))
      batches.foreach { rows =>
        set.failAt(rows)
        assert(kept && set.last.head.map(_.get(1)) == set.last.last.map(_.get(0)))
        kept = false
      }
    } finally set.stop()
  }

  test("functions without a name are not one function after a restart") {
    val set = new FedStatements(
      spark,
      schema,
      Seq(
        Statement("SELECT * FROM {one} UNION ALL SELECT * FROM {two}"),
        Statement("SELECT * FROM {one}"),
        Statement("SELECT c FROM {one}")),
      Nil,
      own = Map(
        "one" -> (_.select(udf((v: Int) => v + 1).apply(col("v")).as("c"))),
        "two" -> (_.select(udf((v: Int) => v * 10).apply(col("v")).as("c"))))
    )
    try {
      set.start()
      set.feed(Seq(Row("a", 1)))
      set.restart()
      set.feed(Seq(Row("a", 2)))
      assert(set.seen.map(_.map(_.getInt(0)).sorted) == Seq(
        Seq(2, 3, 10, 20),
        Seq(2, 3),
        Seq(2, 3)))
    } finally set.stop()
  }

  test("values that cannot be the same for all are refused") {
    val sums = "SELECT k, max(id) AS m FROM {told} GROUP BY k"
    val set = new FedStatements(
      spark,
      StructType.fromDDL("k STRING, v INT, ts TIMESTAMP"),
      Seq(Statement(s"SELECT *$kinds FROM {sums}"), Statement(s"SELECT m$kinds FROM {sums}")),
      Seq("sums" -> sums),
      own = Map("told" -> (_.withWatermark("ts", "1 minute").selectExpr("*", "uuid() AS id")))
    )
    val refused = intercept[AnalysisException](set.start())
    assert(refused.getMessage.contains("uuid") && refused.getMessage.contains("watermark"))
  }

  test("hints for state hold in a shared part") {
    val ttl = "/*+ STATE_TTL('1s') */"
    val set = new FedStatements(
      spark,
      schema,
      Seq(Statement(s"SELECT *$kinds FROM {kept}"), Statement(s"SELECT k$kinds FROM {kept}")),
      Seq("kept" -> s"SELECT $ttl k, count(*) AS n FROM {t} GROUP BY k")
    )
    try {
      set.start()
      set.feed(Seq(Row("a", 1)))
      assert(parts(set).head.startsWith("Aggregate"))
      Thread.sleep(1500)
      set.feed(Seq(Row("a", 1)))
      assert(set.last.head.map(_.getLong(1)) == Seq(1L))
    } finally set.stop()
  }

  test("complete mode has the columns of the query, whatever orders it") {
    follows(
      Seq(
        Statement("SELECT upper(k) AS u FROM {sums} ORDER BY s DESC, k LIMIT 2", "complete"),
        Statement("SELECT k FROM {sums} ORDER BY n", "complete"),
        Statement(s"SELECT k, n$kinds FROM {sums}")
      ),
      Seq("sums" -> sums)
    )(set => assert(set.last.head.forall(_.length == 1)))
  }

  test("queries that are read as they are: windows, names, hints, sides of one stream") {
    val set = Seq(
      s"SELECT k, count(*) AS n$kinds FROM (SELECT k, v FROM {t} WHERE v > 1 UNION ALL SELECT k, v FROM {named} " +
        "WHERE v > 1) GROUP BY k",
      s"SELECT a.k, b.v$kinds FROM {t} a JOIN {named} b ON a.k = b.k AND a.v < b.v",
      "SELECT /*+ BROADCAST(t) */ t.k, d.id FROM {t} AS t JOIN {few} d ON t.v = d.id",
      "SELECT /*+ SHUFFLE_HASH(t) */ t.v FROM {t} AS t JOIN {few} d ON t.v = d.id"
    )
    follows(
      set.map(Statement(_)),
      Seq("named" -> "SELECT * FROM {t}", "few" -> "SELECT id FROM range(6)"))(_ => succeed)
  }

  test("Spark's own operators are beside the others") {
    val set = new FedStatements(
      spark,
      StructType.fromDDL("k STRING, v INT, ts TIMESTAMP"),
      Seq(
        Statement("SELECT k FROM {distinct}"),
        Statement("SELECT k, v FROM {timed}"),
        Statement(s"SELECT k, count(*) AS n$kinds FROM {timed} GROUP BY k")),
      Nil,
      own = Map(
        "timed" -> (_.withWatermark("ts", "10 seconds")),
        "distinct" -> (_.withWatermark("ts", "10 seconds").dropDuplicatesWithinWatermark("k")))
    )
    def at(second: Int, k: String) = Row(k, second, new java.sql.Timestamp(second * 1000L))
    try {
      set.start()
      set.feed(Seq(at(100, "a"), at(101, "b"), at(102, "a")))
      set.feed(Seq(at(200, "b"))) // now the first two are forgotten
      set.feed(Seq(at(201, "a"), at(202, "c")))
      assert(set.seen.take(2).map(_.size) == Seq(4, 6))
    } finally set.stop()
  }

  test("a part of which no column is read has its rows") {
    follows(
      Seq(
        Statement(s"SELECT count(*) AS n$kinds FROM {some}"),
        Statement(s"SELECT sum(2) AS n$kinds FROM {some}")),
      Seq("some" -> "SELECT k, v FROM {t} WHERE v > 1")
    )(set => assert(parts(set).map(_.split(" ").head) == Seq("rows", "statement", "statement")))
  }

  test("what a set is asked wrongly is said, and explain shows its parts") {
    spark.readStream.format("rate").load().createOrReplaceTempView("ticks")
    spark.range(1).createOrReplaceTempView("few")
    def set(queries: String, names: String, modes: String) = spark.sql(
      s"SELECT * FROM firesteel_statement_set($queries, names => array($names), modes => array($modes))")
    val twice = "TABLE(ticks), TABLE(ticks)"
    Seq(
      (twice, "'a', 'a'", "'append', 'append'"),
      (twice, "'a'", "'append', 'append'"),
      (twice, "'a', 'b'", "'append', 'other'")
    ).foreach { case (queries, names, modes) =>
      val wrong = intercept[AnalysisException](set(queries, names, modes))
      assert(wrong.getCondition == "FIRESTEEL_WRONG_ARGUMENTS")
    }
    val batch = intercept[AnalysisException](set("TABLE(few)", "'a'", "'append'").collect())
    assert(batch.getMessage.contains("statement a is not streaming"))
    val asked = executionOf(set(twice, "'a', 'b'", "'append', 'append'")).analyzed
    val shown = ExplainStream(spark, asked, OutputMode.Append()).plan
    assert(shown.contains("SharedPlans rows 0\n"))
  }

  test("a target reads its statement's rows only, and what was made of all rows in its own way") {
    val input = memoryStream(spark)(Encoders.scalaInt)
    input.toDF().createOrReplaceTempView("numbers")
    val set = spark.sql(
      "SELECT * FROM firesteel_statement_set(TABLE(SELECT value AS v FROM numbers), " +
        "TABLE(SELECT value * 10 AS v, 'b' AS k FROM numbers), names => array('a', 'b'), " +
        "modes => array('append', 'append'))")
    def filters(rows: DataFrame) =
      executionOf(rows).optimizedPlan.collect { case filter: Filter => filter.condition.sql }
    val query = set.writeStream.foreachBatch { (rows: DataFrame, _: Long) =>
      val second = rows.where("statement = 1 AND s1.v > 10").select("s1.*", "statement", "s0")
      assert(filters(second).forall(!_.contains("statement")))
      assert(second.collect().toSet == Set(Row(20, "b", 1, null), Row(30, "b", 1, null)))
      assert(rows.where("s0.v = 1").count() == 1 && rows.count() == 6)
      assert(rows.where("statement = 2").isEmpty)
      val changed = spark.createDataFrame(rows.rdd.filter(_.getInt(0) == 0), rows.schema)
      val _ = assert(changed.where("statement = 1").isEmpty)
    }.start()
    try {
      input.addData(1, 2, 3)
      query.processAllAvailable()
    } finally query.stop()
  }

  test("state goes on if the only target does not read a micro-batch") {
    val input = memoryStream(spark)(Encoders.scalaInt)
    input.toDF().createOrReplaceTempView("numbers")
    val set = spark.sql(
      "SELECT * FROM firesteel_statement_set(TABLE(SELECT value % 2 AS k, count(*) AS n, " +
        "row_kind() AS op FROM numbers GROUP BY value % 2), names => array('a'), modes => array('append'))")
    var last = Set.empty[Row]
    val query = set.writeStream.foreachBatch { (rows: DataFrame, batch: Long) =>
      if (batch != 1L) last = rows.where("statement = 0").select("s0.*").collect().toSet
    }.start()
    try Seq(1, 3, 5).foreach { value =>
        input.addData(value)
        query.processAllAvailable()
      }
    finally query.stop()
    assert(last == Set(Row(1, 2L, "-U"), Row(1, 3L, "+U")))
  }

  test("another set is refused") {
    def started(statements: Seq[Statement], checkpoint: FedStatements): String =
      intercept[AnalysisException] {
        checkpoint.stop()
        checkpoint.startAs(statements)
      }.getCondition
    val set = new FedStatements(
      spark,
      schema,
      Seq(Statement("SELECT k FROM {t}"), Statement("SELECT v FROM {t}")))
    set.start()
    set.feed(batches.head)
    assert(started(
      Seq("k", "v", "k, v").map(columns => Statement(s"SELECT $columns FROM {t}")),
      set) == "FIRESTEEL_CHANGELOG_OTHER_STATEMENTS")
    // Operators of one layout, at each other's places.
    val counts = "SELECT k, count(*) AS n, row_kind() AS op FROM {t}"
    val three =
      Seq(s"$counts WHERE v > 1 GROUP BY k", s"$counts GROUP BY k", "SELECT k, v FROM {t}")
    val counted = new FedStatements(spark, schema, three.map(Statement(_)))
    counted.start()
    counted.feed(batches.head)
    assert(started(
      Seq("SELECT k, v FROM {t}", three(1), s"$counts WHERE v < 5 GROUP BY k").map(Statement(_)),
      counted) == "FIRESTEEL_CHANGELOG_OTHER_PARTS")
    // A value that differs each time makes a part of its own.
    assert(started(
      Seq(Statement("SELECT k FROM {t}"), Statement("SELECT uuid() AS v FROM {t}")),
      set) == "FIRESTEEL_CHANGELOG_OTHER_PARTS")
  }

  test("views are read from kept rows") {
    val set = new FedStatements(
      spark,
      schema,
      Seq(Statement(s"SELECT *$kinds FROM {sums}"), Statement(s"SELECT k$kinds FROM {sums}")),
      Seq("sums" -> sums))
    try {
      set.start()
      set.feed(batches.head)
      val readers = planOf(set).collect { case view: SharedViewExec =>
        view.metrics("numOutputRows").value
      }
      assert(readers.size == 2)
      assert(planOf(set).collect { case _: StateStoreWriter => 1 }.size == 1)
    } finally set.stop()
  }
}
