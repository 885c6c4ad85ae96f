package io.firesteel.changelog.upsert

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.testkit.SinceSpark

import scala.collection.mutable

import org.apache.spark.sql.{AnalysisException, Row}
import org.apache.spark.sql.streaming.StreamingQueryException

/** Upsert topics: `to_upsert` and `from_upsert`. */
class UpsertSuite extends ChangelogSuite {

  private val words = "word STRING, at TIMESTAMP"
  private val perWord = "SELECT word, count(*) AS n FROM {t} GROUP BY word"
  private val byCount = s"SELECT n, count(*) AS words FROM ($perWord) GROUP BY n"

  private def said(words: String*): Seq[Row] = words.map(Row(_, null))

  private def upserts[T](query: String, keys: String, schema: String = words)(
      body: ChangelogStream => T): T = {
    val fed = stream(schema, "")
    try {
      fed.startAs("update", s"SELECT * FROM to_upsert(TABLE($query), keys => $keys)")
      body(fed)
    } finally fed.stop()
  }

  private def told(fed: ChangelogStream): Seq[String] =
    fed.last.map(r => s"${r.getString(0)} ${r.getString(1)}").sorted

  test("one net record of each key in a micro-batch, null for a deletion") {
    upserts(byCount, "'n'") { fed =>
      fed.feed(said("a", "b"))
      assert(told(fed) == Seq("""{"n":1} {"n":1,"words":2}"""))
      fed.feed(said("a"))
      assert(told(fed) == Seq("""{"n":1} {"n":1,"words":1}""", """{"n":2} {"n":2,"words":1}"""))
      fed.feed(said("b"))
      assert(told(fed) == Seq("""{"n":1} null""", """{"n":2} {"n":2,"words":2}"""))
    }
  }

  test("keys that contain a key of the query: a row that moves leaves a tombstone") {
    upserts(perWord, "array('word', 'n')") { fed =>
      fed.feed(said("a"))
      assert(told(fed) == Seq("""{"word":"a","n":1} {"word":"a","n":1}"""))
      fed.feed(said("a"))
      assert(
        told(fed) == Seq(
          """{"word":"a","n":1} null""",
          """{"word":"a","n":2} {"word":"a","n":2}"""))
    }
  }

  test("the places of a Top-N are a key, though not the one that it is computed by") {
    val top = s"""SELECT * FROM (SELECT *, row_number() OVER (ORDER BY n DESC, word) AS place
                 | FROM ($perWord)) WHERE place <= 2""".stripMargin
    val topic = mutable.Map.empty[String, String]
    upserts(top, "'place'") { fed =>
      Seq(said("a"), said("b", "b", "c"), said("c", "c"), said("a", "a", "a")).foreach { rows =>
        fed.feed(rows)
        val records = fed.last.map(r => r.getString(0) -> r.getString(1))
        assert(records.map(_._1).distinct.size == records.size)
        topic ++= records
      }
    }
    assert(
      topic.toMap == Map(
        """{"place":1}""" -> """{"word":"a","n":4,"place":1}""",
        """{"place":2}""" -> """{"word":"c","n":3,"place":2}"""))
  }

  // A row of a key, then another in its own micro-batch, then one of them goes: a topic that does
  // not know its rows would lose both.
  Seq("'n'", "'words_of'", "array('n', 'words_of')").foreach { keys =>
    test(s"keys that do not identify a row are refused: $keys") {
      val error = intercept[AnalysisException] {
        upserts(s"SELECT word, n, 'x' AS words_of FROM ($perWord)", keys) { fed =>
          fed.feed(said("a"))
          fed.feed(said("b"))
          fed.feed(said("b"))
        }
      }
      assert(error.getMessage.contains("FIRESTEEL_CHANGELOG_NOT_A_KEY"), error.getMessage)
      assert(error.getMessage.contains("(word)"), error.getMessage)
    }
  }

  test("rows of no key are refused: those of a source") {
    val error = intercept[AnalysisException](upserts("SELECT * FROM {t}", "'word'")(_ => ()))
    assert(error.getMessage.contains("FIRESTEEL_CHANGELOG_NOT_A_KEY"), error.getMessage)
  }

  test("windows that answer once have the keys of their groups") {
    val perWindow = "SELECT window_end, word, count(*) AS n FROM " +
      "TUMBLE(TABLE({t}), DESCRIPTOR(at), INTERVAL '10' SECOND) GROUP BY window_start, window_end, word"
    def records(query: String, keys: String) =
      s"SELECT * FROM to_upsert(TABLE($query), keys => array($keys))"
    val whole = perWindow.replaceFirst("SELECT", "SELECT window_start,")
    val fed = new ChangelogStream(
      spark,
      org.apache.spark.sql.types.StructType.fromDDL(words),
      "",
      watermark = Some("at" -> "0 seconds"))
    def at(second: Int, word: String) =
      Row(word, java.sql.Timestamp.valueOf(f"2026-01-01 12:00:$second%02d"))
    try {
      fed.startAs("append", records(whole, "'window_start', 'window_end', 'word'"))
      fed.feed(Seq(at(1, "a"), at(2, "a"), at(3, "b")))
      fed.feed(Seq(at(30, "c")))
      assert(told(fed).map(_.replaceAll(".*\"word\":", "")) == Seq(
        "\"a\",\"n\":2}",
        "\"b\",\"n\":1}"))
    } finally fed.stop()
    val refused = intercept[AnalysisException](
      fed.startAs("append", records(perWindow, "'window_end'")))
    assert(refused.getCondition == "FIRESTEEL_CHANGELOG_NOT_A_KEY")
  }

  test("a selected row_kind() is left out") {
    upserts(s"SELECT *, row_kind() AS op FROM ($perWord)", "'word'") { fed =>
      fed.feed(said("a"))
      assert(told(fed) == Seq("""{"word":"a"} {"word":"a","n":1}"""))
    }
  }

  test("a selected row_kind() is left out of a view, and of projections that pass it on") {
    val view = new ChangelogStream.Changes(
      rows => {
        spark.sql(
          "CREATE OR REPLACE TEMPORARY VIEW told AS SELECT word, n, upper(word) AS big, op FROM " +
            s"(SELECT *, row_kind() AS op FROM (${perWord.replace("{t}", rows)}))")
        "told"
      },
      identity
    )
    val fed = stream(words, "", view)
    try {
      fed.startAs("update", "SELECT * FROM to_upsert(TABLE({t}), 'word')")
      fed.feed(said("a"))
      assert(told(fed) == Seq("""{"word":"a"} {"word":"a","n":1,"big":"A"}"""))
    } finally fed.stop()
  }

  test("what is computed from row_kind() is refused, and row_kind() as a key") {
    val kinds = s"SELECT *, row_kind() AS op FROM ($perWord)"
    Seq(
      s"TABLE(SELECT word, upper(op) AS op FROM ($kinds)), 'word'" -> "MISPLACED_ROW_KIND",
      s"TABLE($kinds), array('word', 'op')" -> "NO_KEY_COLUMN"
    ).foreach { case (arguments, condition) =>
      val error = refusal(words, s"SELECT * FROM to_upsert($arguments)")
      assert(error.contains(s"FIRESTEEL_CHANGELOG_$condition"), error)
    }
  }

  test("keys have the names of the columns, in whatever case they are given") {
    upserts(perWord, "array('WORD', 'word', 'N')") { fed =>
      fed.feed(said("a"))
      assert(told(fed) == Seq("""{"word":"a","n":1} {"word":"a","n":1}"""))
    }
  }

  test("a key that is a function's name is no column") {
    val error = refusal(words, s"SELECT * FROM to_upsert(TABLE($perWord), 'current_date')")
    assert(error.contains("the key current_date() is not one of the columns word, n"), error)
  }

  test("records of a table that is no stream leave the stream a changelog") {
    val records = "SELECT key FROM to_upsert(TABLE(SELECT 'a' AS word), 'word')"
    val fed = stream(words, "")
    try {
      fed.startAs(
        "append",
        "SELECT word, count(*) AS n, row_kind() AS op FROM {t} JOIN " +
          s"($records) ON key = to_json(struct(word)) GROUP BY word")
      fed.feed(said("a", "b"))
      assert(fed.last == Seq(Row("a", 1L, "+I")))
    } finally fed.stop()
  }

  test("nulls in keys, and times to the microsecond in UTC") {
    val newest = "SELECT word, max(at) AS at FROM {t} GROUP BY word"
    withConf("spark.sql.session.timeZone" -> "Asia/Tokyo") {
      upserts(newest, "array('word', 'at')") { fed =>
        fed.feed(Seq(Row(null, java.sql.Timestamp.from(java.time.Instant.ofEpochSecond(0, 1000)))))
        val row = """{"word":null,"at":"1970-01-01T00:00:00.000001Z"}"""
        assert(told(fed) == Seq(s"$row $row"))
      }
    }
  }

  test("times are the same text under Spark's old formatter") {
    withConf("spark.sql.legacy.timeParserPolicy" -> "LEGACY") {
      val row = "SELECT 1 AS k, TIMESTAMP'2024-01-01 00:00:00.000001 UTC' AS ts, " +
        "TIMESTAMP_NTZ'2024-01-01 00:00:00.000001' AS ntz"
      assert(
        spark.sql(s"SELECT value FROM to_upsert(TABLE($row), 'k')").head().getString(0) ==
          """{"k":1,"ts":"2024-01-01T00:00:00.000001Z","ntz":"2024-01-01T00:00:00.000001"}""")
    }
  }

  test("only keys selected of the records, still with every change") {
    val fed = stream(words, "")
    try {
      fed.startAs("update", s"SELECT key FROM to_upsert(TABLE($perWord), 'word')")
      fed.feed(said("a"))
      fed.feed(said("a"))
      assert(fed.last == Seq(Row("""{"word":"a"}""")))
    } finally fed.stop()
  }

  test("complete mode, and operators above the records, are refused") {
    Seq(
      ("complete", s"SELECT * FROM to_upsert(TABLE($perWord), 'word')"),
      ("update", s"SELECT count(*) FROM to_upsert(TABLE($perWord), 'word')")
    ).foreach { case (mode, sql) =>
      assert(refusal(words, sql, mode).contains("FIRESTEEL_CHANGELOG_UNSUPPORTED_OPERATOR"))
    }
  }

  test("in batch a record of each row; several rows of a key are an error") {
    val rows = "SELECT * FROM VALUES (1, 'a'), (1, 'b') AS t(k, v)"
    assert(spark.sql(s"SELECT key FROM to_upsert(TABLE($rows), array('k', 'v'))").count() == 2)
    val error = intercept[Exception] {
      spark.sql(s"SELECT * FROM to_upsert(TABLE($rows), 'k')").collect()
    }
    assert(
      Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null)
        .exists(_.getMessage.contains("FIRESTEEL_CHANGELOG_SEVERAL_ROWS")),
      error)
  }

  test("what to_upsert wrote, from_upsert reads: every type") {
    val row =
      """SELECT CAST(NULL AS STRING) AS k, -0.0D AS d, CAST('NaN' AS DOUBLE) AS nan,
        |  12345678901234567890.123BD AS dec, X'00FF' AS bin, DATE'0001-01-01' AS day,
        |  TIMESTAMP'2024-03-31 02:30:00.123456 UTC' AS ts,
        |  TIMESTAMP_NTZ'2024-03-31 02:30:00.000001' AS ntz, array(1, null) AS arr,
        |  map('x', named_struct('y', 1)) AS m, 'ü"\n' AS text, true AS b""".stripMargin
    val schema = spark.sql(row).schema
    val ddl = schema.toDDL
    val read = spark.sql(
      s"SELECT * FROM from_upsert(TABLE(SELECT * FROM to_upsert(TABLE($row), array('k', 'ts'))), " +
        s"'$ddl', keys => array('k', 'ts'))")
    def texts(rows: Array[Row]) = rows.toSeq.map(_.toSeq.map {
      case bytes: Array[Byte] => bytes.toSeq.toString
      case other => String.valueOf(other)
    })
    assert(texts(read.collect()) == texts(spark.sql(row).collect()))
  }

  SinceSpark("4.2") {
    test("times of the day to the microsecond") {
      withConf("spark.sql.timeType.enabled" -> true) {
        val rows = "SELECT TIME'10:00:00.1' AS k UNION ALL SELECT TIME'10:00:00.000002'"
        val keys = spark.sql(s"SELECT key FROM to_upsert(TABLE($rows), 'k')").collect()
        assert(keys.map(_.getString(0)).sorted.toSeq ==
          Seq("{\"k\":\"10:00:00.000002\"}", "{\"k\":\"10:00:00.100000\"}"))
      }
    }
  }

  private def table[T](body: ChangelogStream => T): T = {
    val source = new ChangelogStream.Changes(
      n => s"from_upsert(TABLE($n), 'id INT, v STRING', keys => 'id')",
      identity)
    val fed = stream("key STRING, value STRING", "", source)
    try {
      fed.startAs("update", "SELECT *, row_kind() AS op FROM {t}")
      body(fed)
    } finally fed.stop()
  }

  test("a record replaces the row of its key, a tombstone deletes it") {
    table { fed =>
      fed.feed(Seq(Row("""{"id":1}""", """{"v":"a"}"""), Row("""{"id":null}""", """{"v":"b"}""")))
      assert(fed.last.map(_.mkString(" ")).sorted == Seq("1 a +I", "null b +I"))
      fed.feed(Seq(
        Row("""{"id":1}""", null),
        Row("""{"id":2}""", null),
        Row("""{"id":null}""", """{"v":"x","id":7}""")))
      assert(fed.last.map(_.mkString(" ")).sorted == Seq("1 a -D", "null x +U"))
    }
  }

  Seq(
    Row(null, """{"v":"a"}""") -> "a record without key",
    Row("", """{"v":"a"}""") -> "a record with an empty key",
    Row(" \n", null) -> "a record with an empty key",
    Row("""{"id":1}""", "\t") -> "a record with an empty value",
    Row("1", """{"v":"a"}""") -> "MALFORMED_RECORD_IN_PARSING",
    Row("""{"id":1}""", "a") -> "MALFORMED_RECORD_IN_PARSING"
  ).foreach { case (record, text) =>
    test(s"an error: $record") {
      table { fed =>
        val error = intercept[StreamingQueryException](fed.feed(Seq(record)))
        assert(
          Iterator.iterate[Throwable](error)(_.getCause).takeWhile(_ != null)
            .exists(_.getMessage.contains(text)),
          error)
      }
    }
  }

  test("a key that the schema does not have") {
    val error = intercept[AnalysisException] {
      spark.sql("SELECT * FROM from_upsert(TABLE(SELECT '' AS key, '' AS value), 'id INT', 'k')")
    }
    assert(error.getCondition == "FIRESTEEL_CHANGELOG_NO_KEY_COLUMN")
  }
}
