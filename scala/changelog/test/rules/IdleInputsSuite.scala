package io.firesteel.changelog.rules

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite, ConsumedTable}

import java.nio.file.Files

import org.apache.spark.sql.{DataFrame, Encoders, Row}
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.types.StructType

/**
 * Unions of which one input is idle in a micro-batch. The optimizer drops it, and then takes a column
 * that is null only there for one without nulls; rows in state have some.
 */
class IdleInputsSuite extends ChangelogSuite {

  private val both = "(SELECT k, 1 AS v, 'x' AS s FROM {a} UNION ALL " +
    "SELECT k, CAST(NULL AS INT) AS v, CAST(NULL AS STRING) AS s FROM {b})"

  private val counts = "(SELECT k, CAST(NULL AS BIGINT) AS count FROM {b} UNION ALL " +
    "SELECT k, count(*) AS count FROM {a} GROUP BY k)"

  /** What comes to `a`, `b` and `c` in each micro-batch. */
  private val batches = Seq(
    Seq(Nil, Seq(1, 1, 2), Nil),
    Seq(Seq(9), Nil, Seq(1)),
    Seq(Seq(1), Nil, Seq(9)),
    Seq(Nil, Nil, Seq(2)),
    Seq(Seq(2), Nil, Nil),
    Seq(Nil, Seq(9), Nil))

  private def follows(sql: String): Unit = {
    val names = Seq("a", "b", "c")
    val streams =
      names.map(_ => memoryStream[Row](spark)(Encoders.row(StructType.fromDDL("k INT"))))
    def reading(views: String => DataFrame): String =
      names.foldLeft(sql) { (text, name) =>
        views(name).createOrReplaceTempView(s"idle_$name")
        text.replace(s"{$name}", s"idle_$name")
      }
    val checkpoint = Files.createTempDirectory("firesteel-idle").toString
    val table = new ConsumedTable
    val streamed = reading(name => streams(names.indexOf(name)).toDF())
    def start() = spark.sql(s"SELECT *, row_kind() AS op FROM ($streamed)").writeStream
      .outputMode("append").option("checkpointLocation", checkpoint)
      .foreachBatch((batch: DataFrame, _: Long) => batch.collect().foreach(table.consume)).start()
    var query = start()
    var fed = names.map(_ => Seq.empty[Int])
    try batches.zipWithIndex.foreach { case (batch, i) =>
        batch.zip(streams).foreach { case (keys, stream) =>
          if (keys.nonEmpty) stream.addData(keys.map(Row(_)))
        }
        fed = fed.zip(batch).map { case (all, keys) => all ++ keys }
        query.processAllAvailable()
        val answer = fed.zip(names).foldLeft(sql) { case (text, (keys, name)) =>
          val rows = keys.map(k => s"($k)").mkString(", ")
          val values =
            if (keys.isEmpty) "(SELECT CAST(1 AS INT) AS k WHERE false)"
            else s"(VALUES $rows AS _(k))"
          text.replace(s"{$name}", values)
        }
        val wanted = ChangelogStream.bag(spark.sql(answer).collect().toSeq)
        assert(table.wrong.isEmpty && table.rows == wanted, s"after micro-batch $i of $sql")
        if (i == 2) {
          query.stop()
          query = start()
        }
      }
    finally query.stop()
  }

  for ((name, sql) <- Seq(
      "a join's condition" ->
        s"SELECT l.k, l.s, r.k AS w FROM $both l JOIN {c} r ON l.k = r.k AND (l.v IS NULL OR l.v > 5)",
      "an outer join" ->
        s"SELECT l.k, l.v, l.s, r.k AS w FROM $both l LEFT JOIN {c} r ON l.k = r.k AND l.v IS NULL",
      "a Top-N" -> s"SELECT k, v, s FROM $both ORDER BY v NULLS FIRST, k, s LIMIT 2",
      "a Top-1" -> s"SELECT k, v, s, v IS NULL AS n FROM $both ORDER BY k DESC, v, s LIMIT 1",
      "groups" -> s"SELECT v, v IS NULL AS n, s, count(*) AS c FROM $both GROUP BY v, s",
      "an aggregate" -> s"SELECT k, max(v) AS m, max(s) IS NULL AS n FROM $both GROUP BY k",
      "OVER" -> ("SELECT k, v, s, lag(v) OVER (PARTITION BY k ORDER BY v NULLS FIRST, s) AS l, " +
        s"count(v) OVER (PARTITION BY k) AS c FROM $both"),
      "a filter above an aggregate" ->
        s"SELECT k, m FROM (SELECT k, max(v) AS m FROM $both GROUP BY k) WHERE m IS NULL OR m > 0",
      "DISTINCT" -> s"SELECT DISTINCT k, v, s FROM $both",
      // The first input is idle, and its columns have the names that they have above.
      "a join, first" -> s"SELECT l.k, l.count, r.k AS w FROM $counts l JOIN {c} r ON l.k = r.k",
      "a join's condition, first" -> (s"SELECT l.k, l.count, r.k AS w FROM $counts l " +
        "JOIN {c} r ON l.k = r.k AND (l.count IS NULL OR l.count > r.k + 100)"),
      "a Top-N, first" -> s"SELECT k, count FROM $counts ORDER BY count NULLS FIRST, k LIMIT 2",
      "a subquery" -> s"SELECT k FROM {c} WHERE k NOT IN (SELECT v FROM $both)"
    )) test(name)(follows(sql))
}
