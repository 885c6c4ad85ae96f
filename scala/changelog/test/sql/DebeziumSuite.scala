package io.firesteel.changelog.sql

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import org.apache.spark.sql.Row
import org.apache.spark.sql.streaming.StreamingQueryException

/** Changes as Debezium writes them: `from_debezium`. */
class DebeziumSuite extends ChangelogSuite {

  private val schema = "key STRING, value STRING"
  private val columns = "'id INT NOT NULL, `the name` STRING'"

  private def event(op: String, before: String, after: String): Row =
    Row("k", s"""{"before": $before, "after": $after, "op": "$op", "ts_ms": 1}""")

  private def row(id: Int, name: String): String = s"""{"id": $id, "the name": "$name"}"""

  private def run[T](call: String)(body: ChangelogStream => T): T = {
    val source = new ChangelogStream.Changes(n => s"from_debezium(TABLE($n), $call)", identity)
    val fed = stream(schema, "", source)
    try {
      fed.startAs("append", "SELECT *, row_kind() AS op FROM {t}")
      body(fed)
    } finally fed.stop()
  }

  private def told(fed: ChangelogStream): Seq[String] = fed.last.map(_.mkString(" ")).sorted

  test("envelopes with both sides need no keys; a tombstone says nothing") {
    run(columns) { fed =>
      fed.feed(Seq(event("r", "null", row(1, "a")), event("c", "null", row(2, "b"))))
      assert(told(fed) == Seq("1 a +I", "2 b +I"))
      fed.feed(Seq(
        event("u", row(1, "a"), row(1, "x")),
        event("d", row(2, "b"), "null"),
        Row("k", null)))
      assert(told(fed) == Seq("1 a -D", "1 x +I", "2 b -D"))
    }
  }

  test("envelopes by key: updates without the row before, deletions with the key alone") {
    run(s"$columns, keys => array('id')") { fed =>
      fed.feed(Seq(event("c", "null", row(1, "a")), event("u", "null", row(2, "b"))))
      assert(told(fed) == Seq("1 a +I", "2 b +I"))
      fed.feed(Seq(
        event("u", "null", row(1, "x")),
        event("d", """{"id": 2, "the name": null}""", "null"),
        event("u", row(3, "y"), row(4, "y"))))
      assert(told(fed) == Seq("1 a -U", "1 x +U", "2 b -D", "4 y +I"))
    }
  }

  test("a schema around the payload, and another column") {
    val source = new ChangelogStream.Changes(
      n => s"from_debezium(TABLE(SELECT value AS json FROM $n), $columns, value => 'json')",
      identity)
    val fed = stream(schema, "", source)
    try {
      fed.startAs("append", "SELECT *, row_kind() AS op FROM {t}")
      val inner = event("c", "null", row(1, "a")).getString(1)
      fed.feed(Seq(Row("k", s"""{"schema": {"type": "struct"}, "payload": $inner}""")))
      assert(told(fed) == Seq("1 a +I"))
    } finally fed.stop()
  }

  test("the schema as JSON of Spark's types") {
    val json = org.apache.spark.sql.types.StructType.fromDDL("id INT").json
    run(s"'$json'") { fed =>
      fed.feed(Seq(event("c", "null", row(1, "a"))))
      assert(told(fed) == Seq("1 +I"))
    }
  }

  Seq(
    event("u", "null", row(1, "a")) -> "FIRESTEEL_CHANGELOG_UPDATE_WITHOUT_KEYS",
    event("d", "null", "null") -> "'d without before'",
    event("c", "null", "null") -> "'c without after'",
    event("t", "null", "null") -> "has 't'",
    Row("k", "no JSON") -> "MALFORMED_RECORD_IN_PARSING"
  ).foreach { case (change, text) =>
    test(s"an error that says $text: $change") {
      run(columns) { fed =>
        val error = intercept[StreamingQueryException](fed.feed(Seq(change)))
        assert(error.getMessage.contains(text))
      }
    }
  }

  test("a batch of envelopes is its table") {
    import scala.jdk.CollectionConverters._
    val changes = Seq(
      event("c", "null", row(1, "a")),
      event("c", "null", row(2, "b")),
      event("u", row(1, "a"), row(1, "x")),
      event("d", row(2, "b"), "null"))
    spark.createDataFrame(changes.asJava, org.apache.spark.sql.types.StructType.fromDDL(schema))
      .createOrReplaceTempView("envelopes")
    val table = spark.sql(s"SELECT * FROM from_debezium(TABLE(envelopes), $columns)")
    assertSameRows(table.collect().toSeq, Seq(Row(1, "x")), "the table")
  }
}
