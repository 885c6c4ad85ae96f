package io.firesteel.changelog.sql

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.core.decide.Explain
import org.apache.spark.sql.{AnalysisException, Row}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.firesteel.lastBatchOf
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.streaming.StreamingQueryException
import org.scalatest.Assertion

/** Sources that tell the kinds of their rows: `from_changelog`. */
class ChangelogSourceSuite extends ChangelogSuite {

  private val schema = "id INT, v STRING, op STRING"

  private def source(arguments: String): ChangelogStream.Source =
    new ChangelogStream.Changes(name => s"from_changelog(TABLE($name)$arguments)", identity)

  private val full = source("")
  private val keyed = source(", keys => array('id')")
  private val sequenced = source(", 'op', 'id', sequence_by => 'v'")

  private def run[T](sql: String, from: ChangelogStream.Source, mode: String = "append")(
      body: ChangelogStream => T): T = {
    val fed = stream(schema, sql, from)
    try {
      fed.startAs(mode, sql)
      body(fed)
    } finally fed.stop()
  }

  /** What the changelog of the source itself tells, micro-batch by micro-batch. */
  private def tells(from: ChangelogStream.Source, batches: (Seq[Row], Seq[String])*): Assertion =
    providers.map { provider =>
      withProvider(provider) {
        run("SELECT id, v, row_kind() AS op FROM {t}", from) { fed =>
          batches.zipWithIndex.map { case ((rows, told), i) =>
            fed.feed(rows)
            assert(
              fed.last.map(_.mkString(" ")).sorted == told.sorted,
              s"micro-batch $i, $provider")
          }.last
        }
      }
    }.last

  test("a full changelog: rows come and go as they are told") {
    tells(
      full,
      Seq(Row(1, "a", "+I"), Row(2, "b", "c")) -> Seq("1 a +I", "2 b +I"),
      Seq(Row(1, "a", "-U"), Row(1, "x", "+U"), Row(2, "b", "delete")) ->
        Seq("1 a -D", "1 x +I", "2 b -D")
    )
  }

  test("upserts: a row replaces its key's, the same row again is nothing") {
    tells(
      keyed,
      Seq(Row(1, "a", "I"), Row(2, "b", "u"), Row(2, "b2", "u")) -> Seq("1 a +I", "2 b2 +I"),
      Seq(Row(1, "x", "insert"), Row(2, "b2", "U")) -> Seq("1 a -U", "1 x +U"),
      Nil -> Nil
    )
  }

  test("a change of the whole table: rows that go are found whichever of two zeros they have") {
    val fed = new ChangelogStream(
      spark,
      StructType.fromDDL("op STRING, k INT, d DOUBLE"),
      "SELECT * FROM from_changelog(TABLE({t}), op => 'op')")
    try {
      fed.startAs("complete", "SELECT * FROM from_changelog(TABLE({t}), op => 'op')")
      fed.feed(Seq(Row("+I", 1, -0.0), Row("+I", 2, Double.NaN)))
      assert(fed.last.map(_.toString).sorted == Seq("[1,0.0]", "[2,NaN]"))
      fed.feed(Seq(Row("-D", 1, 0.0)))
      assert(fed.last.map(_.toString) == Seq("[2,NaN]"))
    } finally fed.stop()
  }

  test("upserts: a deletion needs the key alone, and one of no row is nothing") {
    tells(
      keyed,
      Seq(Row(1, "a", "I"), Row(7, null, "D")) -> Seq("1 a +I"),
      Seq(Row(1, null, "D"), Row(2, "b", "I"), Row(2, null, "D")) -> Seq("1 a -D"),
      Seq(Row(1, null, "D"), Row(1, "c", "U")) -> Seq("1 c +I")
    )
  }

  test("upserts: the sides of an update in one micro-batch are an update, -U alone is a deletion") {
    tells(
      keyed,
      Seq(Row(1, "a", "I"), Row(2, "b", "I")) -> Seq("1 a +I", "2 b +I"),
      Seq(Row(1, "a", "-U"), Row(1, "x", "+U"), Row(2, "b", "-U"), Row(3, "b", "+U")) ->
        Seq("1 a -U", "1 x +U", "2 b -D", "3 b +I")
    )
  }

  test("a sequence: the greatest wins, in whichever order rows come, deletions too") {
    tells(
      sequenced,
      Seq(Row(1, "5", "I"), Row(1, "3", "I"), Row(2, "4", "D")) -> Seq("1 5 +I"),
      Seq(Row(1, "4", "I"), Row(2, "3", "I")) -> Nil,
      Seq(Row(1, "7", "D"), Row(1, "6", "U")) -> Seq("1 5 -D"),
      Seq(Row(1, "6", "U"), Row(2, "5", "U")) -> Seq("2 5 +I"),
      Seq(Row(1, "8", "U"), Row(2, null, "D")) -> Seq("1 8 +I")
    )
  }

  test("with a time to live: rows are replaced as before, and forgotten after it") {
    withConf(ChangelogConf.STATE_TTL.key -> "1h") {
      tells(
        keyed,
        Seq(Row(1, "a", "u"), Row(2, "b", "u")) -> Seq("1 a +I", "2 b +I"),
        Seq(Row(1, "x", "u"), Row(2, null, "d")) -> Seq("1 a -U", "1 x +U", "2 b -D"),
        Seq(Row(1, "x", "u"), Row(2, "c", "u")) -> Seq("2 c +I")
      )
      tells(
        sequenced,
        Seq(Row(1, "5", "u")) -> Seq("1 5 +I"),
        Seq(Row(1, "6", "d")) -> Seq("1 5 -D"),
        Seq(Row(1, "5", "u")) -> Nil
      )
    }
    withConf(ChangelogConf.STATE_TTL.key -> "1ms") {
      tells(
        keyed,
        Seq(Row(1, "a", "u")) -> Seq("1 a +I"),
        Seq(Row(1, "x", "u")) -> Seq("1 x +I"),
        Seq(Row(1, null, "d")) -> Nil
      )
    }
  }

  test("explode above a source of changes") {
    val sql = "SELECT id, c FROM {t} LATERAL VIEW explode(split(v, ' ')) AS c"
    run(s"SELECT *, row_kind() AS op FROM ($sql)", keyed) { fed =>
      fed.feed(Seq(Row(1, "a b", "u")))
      fed.feed(Seq(Row(1, "b c", "u")))
      assert(fed.last.map(_.mkString(" ")) == Seq("1 a -D", "1 b -D", "1 b +I", "1 c +I"))
    }
  }

  test("rows that the sequence makes too old are counted") {
    run("SELECT id, v, row_kind() AS op FROM {t}", sequenced) { fed =>
      fed.feed(Seq(Row(1, "5", "I")))
      fed.feed(Seq(Row(1, "4", "I")))
      val progress = fed.running.recentProgress.filter(_.numInputRows > 0).last
      assert(progress.stateOperators.head.customMetrics.get("numRowsOutOfSequence") == 1L)
    }
    // Its store is that of the aggregate above it.
    run("SELECT id, max(v) AS m, row_kind() AS op FROM {t} GROUP BY id", sequenced) { fed =>
      fed.feed(Seq(Row(1, "5", "I")))
      fed.feed(Seq(Row(1, "4", "I")))
      val progress = fed.running.recentProgress.filter(_.numInputRows > 0).last
      assert(progress.stateOperators.length == 1)
      assert(progress.stateOperators.head.customMetrics.get("numRowsOutOfSequence") == 1L)
    }
  }

  test("of rows of a key in one micro-batch the last wins, whatever the memory") {
    Seq(1, 2, 100).foreach { limit =>
      withConf(ChangelogConf.MAX_BUFFERED_ROWS.key -> limit) {
        run("SELECT id, v, row_kind() AS op FROM {t}", keyed) { fed =>
          fed.feed((1 to 9).map(i => Row(i % 3, s"$i", "u")))
          val table = scala.collection.mutable.Map.empty[Int, String]
          fed.last.foreach(r =>
            if (r.getString(2).startsWith("+")) table(r.getInt(0)) = r.getString(1))
          assert(table.toMap == Map(1 -> "7", 2 -> "8", 0 -> "9"))
        }
      }
    }
  }

  Seq("full" -> full, "upserts" -> keyed).foreach { case (name, from) =>
    Seq("teleported" -> "'teleported'", (null: String) -> "NULL", "" -> "''").foreach {
      case (op, shown) =>
        test(s"$name: the kind $shown is an error that names it") {
          run("SELECT id, count(*) AS n, row_kind() FROM {t} GROUP BY id", from) { fed =>
            val error = intercept[StreamingQueryException](fed.feed(Seq(Row(1, "a", op))))
            val text = Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null)
              .map(_.getMessage).mkString("\n")
            assert(
              text.contains("FIRESTEEL_CHANGELOG_UNKNOWN_KIND") && text.contains(s"has $shown"))
          }
        }
    }
  }

  test("an update without the row before it needs keys") {
    run("SELECT id, count(*) AS n, row_kind() FROM {t} GROUP BY id", full) { fed =>
      val error = intercept[StreamingQueryException](fed.feed(Seq(Row(1, "a", "u"))))
      assert(error.getMessage.contains("FIRESTEEL_CHANGELOG_UPDATE_WITHOUT_KEYS"))
      assert(error.getMessage.contains("keys => array('id')"))
    }
  }

  Seq(
    "SELECT v, count(*) AS n, sum(id) AS s, count(DISTINCT id) AS d, max(id) AS m, " +
      "collect_list(id) AS l FROM {t} GROUP BY v" -> "a 1 2 1 2 List(2) +I",
    "SELECT v, id FROM (SELECT *, row_number() OVER (PARTITION BY v ORDER BY id) AS rn FROM {t}) " +
      "WHERE rn <= 2" -> "a 2 +I",
    "SELECT DISTINCT v FROM {t} WHERE id < 3" -> "a +I"
  ).foreach { case (sql, told) =>
    test(s"a full changelog may take back a row before it comes: $sql") {
      run(s"SELECT *, row_kind() AS op FROM ($sql)", full) { fed =>
        fed.feed(Seq(Row(1, "a", "-D"), Row(2, "a", "+I")))
        fed.feed(Seq(Row(1, "a", "+I")))
        assert(fed.emitted.map(_.toSeq.map {
          case list: scala.collection.Seq[_] => list.toList
          case other => other
        }.mkString(" ")) == Seq(told))
      }
    }
  }

  test("modes, keys and states of operators over a full changelog and over upserts") {
    def modes(from: ChangelogStream.Source, sql: String): Seq[String] =
      run(sql, from) { fed =>
        fed.feed(Seq(Row(1, "a", "+I")))
        val fired = Explain.of(lastBatchOf(fed.running).get.executedPlan).fired
        fired.map(f => f.values("operator") + " " + f.values("changelogMode"))
      }
    val byKey = "SELECT id, row_kind() AS op FROM {t} WHERE id > 0"
    val byValue = "SELECT id, row_kind() AS op FROM {t} WHERE v > 'a'"
    val counted = "SELECT v, count(*) AS n, row_kind() AS op FROM {t} GROUP BY v"
    assert(modes(keyed, counted) == Seq("Aggregate [I,UB,UA,D]", "Normalize [I,UB,UA,D]"))
    assert(modes(full, counted) == Seq("Aggregate [I,UB,UA,D]"))
    assert(modes(keyed, byKey) == Seq("Normalize [I,UB,UA,D]"))
    assert(modes(keyed, byValue) == Seq("Normalize [I,UB,UA,D]"))
  }

  test("update mode: no row before an update, unless a filter on other columns needs it") {
    def mode(sql: String): String = run(sql, keyed, "update") { fed =>
      fed.feed(Seq(Row(1, "a", "+I")))
      Explain.of(lastBatchOf(fed.running).get.executedPlan).fired.head.values("changelogMode")
    }
    assert(mode("SELECT id, v, row_kind() AS op FROM {t} WHERE id > 0") == "[I,UA,D]")
    assert(mode("SELECT id, v, row_kind() AS op FROM {t} WHERE v > 'a'") == "[I,UB,UA,D]")
  }

  test("an update that passes a filter on one side alone comes or goes") {
    run("SELECT id, v, row_kind() AS op FROM {t} WHERE v > 'm'", keyed, "update") { fed =>
      fed.feed(Seq(Row(1, "a", "u"), Row(2, "z", "u")))
      assert(fed.last.map(_.mkString(" ")) == Seq("2 z +I"))
      fed.feed(Seq(Row(1, "x", "u"), Row(2, "b", "u")))
      assert(fed.last.map(_.mkString(" ")).sorted == Seq("1 x +I", "2 z -D"))
    }
  }

  test("a column that nothing reads changes nothing") {
    run("SELECT id, row_kind() AS op FROM {t}", keyed) { fed =>
      fed.feed(Seq(Row(1, "a", "u")))
      fed.feed(Seq(Row(1, "b", "u")))
      assert(fed.last.isEmpty)
    }
    // The sequence, and what tells rows of one sequence apart, are read by the source alone.
    run("SELECT id, row_kind() AS op FROM {t}", sequenced) { fed =>
      fed.feed(Seq(Row(1, "a", "u")))
      assert(fed.last.map(_.mkString(" ")) == Seq("1 +I"))
      fed.feed(Seq(Row(1, "b", "u")))
      assert(fed.last.isEmpty)
      fed.feed(Seq(Row(1, "c", "-D")))
      assert(fed.last.map(_.mkString(" ")) == Seq("1 -D"))
    }
  }

  test("a sequence without keys is refused") {
    val error = intercept[AnalysisException](
      run("SELECT id, row_kind() AS op FROM {t}", source(", 'op', sequence_by => 'v'"))(_ => ()))
    assert(error.getMessage.contains("sequence_by"))
  }

  test("complete mode gives the table") {
    Seq(full, keyed).foreach { from =>
      run("SELECT id, v FROM {t}", from, "complete") { fed =>
        fed.feed(Seq(Row(1, "a", "+I"), Row(2, "b", "+I")))
        fed.feed(Seq(Row(1, "a", "-U"), Row(1, "x", "+U"), Row(2, "b", "-D")))
        assert(fed.last.map(_.mkString(" ")) == Seq("1 x"))
      }
    }
  }

  test("a key of 0.0 is that of -0.0, and NaN is one key") {
    val fed = stream("id DOUBLE, v STRING, op STRING", "SELECT id, v, row_kind() FROM {t}", keyed)
    try {
      fed.startAs("append", "SELECT id, v, row_kind() FROM {t}")
      fed.feed(Seq(Row(0.0, "a", "u"), Row(Double.NaN, "b", "u")))
      fed.feed(Seq(Row(-0.0, "c", "u"), Row(0.0 / 0.0, "b", "u")))
      assert(fed.last.map(_.mkString(" ")) == Seq("0.0 a -U", "0.0 c +U"))
    } finally fed.stop()
  }

  test("a checkpoint of another sequence is refused") {
    val fed = stream(schema, "SELECT id, v FROM {t}", sequenced)
    val other = stream(schema, "SELECT id, v FROM {t}", keyed)
    try {
      fed.start()
      fed.feed(Seq(Row(1, "a", "u")))
      fed.stop()
      other.checkpoint = fed.checkpoint
      other.start()
      // Its own first rows have the place in the stream that the checkpoint is past.
      other.feed(Seq(Row(1, "a", "u")))
      val text = intercept[Exception](other.feed(Seq(Row(1, "b", "u")))).getMessage
      assert(text.contains("FIRESTEEL_CHANGELOG_STATE_MISMATCH"))
      assert(text.contains("order [v] is now []"))
    } finally {
      fed.stop()
      other.stop()
    }
  }

  test("switched off, a changelog is refused") {
    withConf(ChangelogConf.ENABLED.key -> false) {
      val fed = stream(schema, "", keyed)
      val error = intercept[Exception](fed.startAs("append", "SELECT id, v FROM {t}"))
      assert(error.getMessage.contains("FIRESTEEL_CHANGELOG_SWITCHED_OFF"))
    }
  }

  private val calls = Seq(
    "TABLE({s}), 'nothing'" -> "UNRESOLVED_COLUMN",
    "TABLE({s}), 'id'" -> "FIRESTEEL_CHANGELOG_BAD_SOURCE_COLUMN",
    "TABLE({s}), 'op', 'op'" -> "FIRESTEEL_CHANGELOG_BAD_SOURCE_COLUMN",
    "TABLE({s}), keys => array('nothing')" -> "UNRESOLVED_COLUMN",
    "TABLE({s}), keys => array(1)" -> "FIRESTEEL_WRONG_ARGUMENTS",
    "TABLE({s}), key => 'id'" -> "FIRESTEEL_WRONG_ARGUMENTS",
    "'{s}', 'op'" -> "FIRESTEEL_WRONG_ARGUMENTS",
    "TABLE({s}) PARTITION BY (id), 'op'" -> "FIRESTEEL_WRONG_ARGUMENTS"
  )

  calls.foreach { case (arguments, condition) =>
    test(s"$condition: from_changelog($arguments)") {
      val from =
        new ChangelogStream.Changes(
          n => s"from_changelog(${arguments.replace("{s}", n)})",
          identity)
      val fed = stream(schema, "", from)
      val error = intercept[Exception](fed.startAs("append", "SELECT *, row_kind() FROM {t}"))
      assert(error.getMessage.contains(condition))
    }
  }

  test("a changelog of a changelog is refused, and so is one of an aggregate") {
    Seq(
      "SELECT id, v, row_kind() AS op FROM {s}",
      "SELECT id, max(v) AS v, max(op) AS op FROM {s} GROUP BY id",
      "SELECT *, 'u' AS op FROM from_changelog(TABLE({s}))"
    ).foreach { below =>
      val from = new ChangelogStream.Changes(
        n => s"from_changelog(TABLE(${below.replace("{s}", n)}))",
        identity)
      val fed = stream(schema, "", from)
      val error = intercept[Exception](fed.startAs("append", "SELECT *, row_kind() FROM {t}"))
      assert(error.getMessage.contains("FIRESTEEL_CHANGELOG_UNSUPPORTED_OPERATOR"), below)
    }
  }

  test("filters and projections on the source") {
    val from = new ChangelogStream.Changes(
      n =>
        s"(SELECT * FROM from_changelog(TABLE(SELECT id, upper(v) AS v, op FROM $n WHERE id > 0)))",
      identity)
    run("SELECT id, v, row_kind() AS op FROM {t}", from) { fed =>
      fed.feed(Seq(Row(1, "a", "+I"), Row(-2, "b", "nonsense")))
      assert(fed.last.map(_.mkString(" ")) == Seq("1 A +I"))
    }
  }

  test("a batch changelog is its table") {
    import scala.jdk.CollectionConverters._
    val rows = Seq(
      Row(1, "a", "c"),
      Row(1, "a", "c"),
      Row(2, "b", "c"),
      Row(1, "a", "-U"),
      Row(1, "x", "+U"),
      Row(2, "b", "d"),
      Row(3, "c", "r"))
    spark.createDataFrame(rows.asJava, org.apache.spark.sql.types.StructType.fromDDL(schema))
      .repartition(1).createOrReplaceTempView("changes")
    def table(arguments: String) =
      spark.sql(s"SELECT * FROM from_changelog(TABLE(changes)$arguments)").collect().toSeq
    assertSameRows(table(""), Seq(Row(1, "a"), Row(1, "x"), Row(3, "c")), "by whole rows")
    assertSameRows(table(", keys => 'id'"), Seq(Row(1, "x"), Row(3, "c")), "by key")
    assertSameRows(
      table(", keys => 'id', sequence_by => 'v'"),
      Seq(Row(1, "x"), Row(3, "c")),
      "by key and sequence")
    assertSameRows(
      spark.sql(
        """SELECT a.id, b.v FROM from_changelog(TABLE(changes)) a
          |JOIN from_changelog(TABLE(changes), keys => 'id') b ON a.id = b.id
          |WHERE a.v = 'x'""".stripMargin).collect().toSeq,
      Seq(Row(1, "x")),
      "joined with itself"
    )
  }

  test("a batch changelog tells rows apart by their bytes") {
    spark.sql(
      """SELECT v COLLATE UTF8_LCASE AS v, parse_json(j) AS j, array(parse_json(j)) AS js, op
        |FROM VALUES ('A', '1', '+I'), ('a', '1', '+I'), ('a', '1', '-D'), ('b', '2', '+I'),
        |('b', '3', '+I'), ('b', '2', '-D'), ('c', '"4"', '+I'), ('c', '4', '+I'), ('c', '4', '-D'),
        |('d', 'null', '+I'), ('d', NULL, '-D') AS c(v, j, op)""".stripMargin)
      .createOrReplaceTempView("changes")
    assertSameRows(
      spark.sql("SELECT v, to_json(j), to_json(js) FROM from_changelog(TABLE(changes))").collect()
        .toSeq,
      Seq(
        Row("A", "1", "[1]"),
        Row("b", "3", "[3]"),
        Row("c", "\"4\"", "[\"4\"]"),
        Row("d", "null", "[null]")),
      "of collated text and variants"
    )
  }

  test("a table of changes beside a stream") {
    spark.sql(
      """SELECT * FROM VALUES (1, 'a', '+I', 1), (1, 'b', '+U', 2), (2, 'c', '+I', 1), (2, 'c', '-D', 2)
        |AS c(id, name, op, seq)""".stripMargin).coalesce(1).createOrReplaceTempView("changes")
    Seq("", ", sequence_by => 'seq'").foreach { sequence =>
      val table = s"from_changelog(TABLE(changes), keys => array('id')$sequence)"
      Seq(
        s"SELECT n.name, count(*) AS c FROM {t} JOIN $table n ON {t}.id = n.id GROUP BY n.name",
        s"SELECT {t}.v, n.name FROM {t} LEFT JOIN $table n ON {t}.id = n.id"
      ).foreach { sql =>
        val fed = stream(schema, sql)
        try {
          fed.start()
          fed.feed(Seq(Row(1, "x", ""), Row(2, "y", "")))
          fed.difference.foreach(d => fail(d))
          fed.feed(Seq(Row(1, "z", "")))
          fed.difference.foreach(d => fail(d))
        } finally fed.stop()
      }
    }
  }

  test("a batch changelog with an unknown kind is an error") {
    spark.sql("SELECT 1 AS id, 'what' AS op").createOrReplaceTempView("changes")
    val error = intercept[Exception](
      spark.sql("SELECT * FROM from_changelog(TABLE(changes))").collect())
    assert(error.getMessage.contains("FIRESTEEL_CHANGELOG_UNKNOWN_KIND"))
  }

  test("restart, checkpoints of version 2") {
    withConf(
      SQLConf.STATE_STORE_PROVIDER_CLASS.key -> rocksDb,
      SQLConf.STATE_STORE_CHECKPOINT_FORMAT_VERSION.key -> 2) {
      val fed = stream(schema, "SELECT id, v FROM {t}", keyed)
      try {
        fed.start()
        fed.feed(Seq(Row(1, "a", "u"), Row(2, "b", "u")))
        fed.restart()
        fed.feed(Seq(Row(1, "x", "u"), Row(2, null, "d")))
        assert(fed.last.map(_.mkString(" ")).sorted == Seq("1 a -U", "1 x +U", "2 b -D"))
      } finally fed.stop()
    }
  }
}
