package io.firesteel.changelog.rules

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

/** Queries that pass Spark's check of streaming queries, and that Spark refuses when they run. */
class LaterRefusalsSuite extends ChangelogSuite {

  private val schema = "id INT, s STRING, input STRING"

  private val batches = Seq(
    Seq(Row(1, "a", "l"), Row(1, "A", "r"), Row(2, "b", "l"), Row(3, null, "r")),
    Seq(Row(4, "B", "r"), Row(5, "c", "l"), Row(1, "a", "l")),
    Seq(Row(6, "C", "l"), Row(7, null, "l"))
  )

  private def side(input: String) = s"(SELECT id, s FROM {t} WHERE input = '$input')"

  /** What the rows of `emitted` are once each has replaced the one with the same key. */
  private def last(emitted: Seq[Row], key: Row => Any): Seq[Row] =
    emitted.groupBy(key).values.map(_.last).toSeq

  private def runs(mode: String, sql: String, key: Row => Any): Unit = {
    val fed = stream(schema, sql)
    try {
      fed.startAs(mode, sql, hasKinds = false)
      batches.foreach { rows =>
        fed.feed(rows)
        val has = mode match {
          case "append" => fed.emitted.toSeq
          case _ => last(fed.emitted.toSeq, key)
        }
        assert(ChangelogStream.bag(has) == ChangelogStream.bag(fed.answer()), sql)
      }
    } finally fed.stop()
  }

  test("joins of streams without an equality") {
    Seq(
      s"SELECT l.id, r.id AS other FROM ${side("l")} l CROSS JOIN ${side("r")} r",
      s"SELECT l.id, r.id AS other FROM ${side("l")} l, ${side("r")} r WHERE l.id < r.id",
      s"SELECT l.id, r.id AS other FROM ${side("l")} l JOIN ${side("r")} r ON l.id = r.id OR l.s = r.s",
      // The optimizer finds that the equality is always true.
      s"SELECT l.id, r.id AS other FROM (SELECT 1 AS one, id FROM ${side("l")}) l " +
        s"JOIN (SELECT 1 AS one, id FROM ${side("r")}) r ON l.one = r.one"
    ).foreach(runs("append", _, identity))
  }

  test("keys of collated text") {
    def key(row: Row) = Option(row.getString(0)).map(_.toLowerCase)
    val s = "s COLLATE UTF8_LCASE"
    runs("update", s"SELECT $s AS k, count(*) AS n FROM {t} GROUP BY $s", key)
    runs("update", s"SELECT DISTINCT $s AS k FROM {t}", key)
    runs(
      "append",
      s"SELECT l.id, r.id AS other FROM ${side("l")} l JOIN ${side("r")} r ON l.$s = r.$s",
      identity)
    assert(refusal(schema, s"SELECT $s AS k, count(*) AS n FROM {t} GROUP BY $s", "complete")
      .contains("FIRESTEEL_CHANGELOG_UNSUPPORTED_TYPE"))
  }

  test("dropDuplicates by collated text") {
    val fed = new ChangelogStream(
      spark,
      StructType.fromDDL(schema),
      "SELECT lower(s) AS s FROM {t}",
      prepared = _.selectExpr("s COLLATE UTF8_LCASE AS s").dropDuplicates("s"))
    try {
      fed.startAs("append", "SELECT lower(s) AS s FROM {t}", hasKinds = false)
      batches.foreach(fed.feed)
      assert(ChangelogStream.bag(fed.emitted.toSeq) == ChangelogStream.bag(fed.answer()))
    } finally fed.stop()
  }

  test("what Spark runs stays Spark's") {
    Seq(
      ("append", s"SELECT l.id FROM ${side("l")} l, ${side("r")} r WHERE l.id = r.id") ->
        "symmetricHashJoin",
      ("complete", "SELECT 'x' COLLATE UTF8_LCASE AS x, id, count(*) FROM {t} GROUP BY 1, 2") ->
        "stateStoreSave"
    ).foreach { case ((mode, sql), operator) =>
      val fed = stream(schema, sql)
      try {
        fed.startAs(mode, sql, hasKinds = false)
        fed.feed(batches.head)
        assert(fed.running.lastProgress.stateOperators.head.operatorName == operator)
      } finally fed.stop()
    }
  }
}
