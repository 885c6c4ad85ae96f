package io.firesteel.changelog.plan

import io.firesteel.changelog.ChangelogSuite
import io.firesteel.changelog.common.ChangelogConf
import org.apache.spark.sql.Row

/** Distinct values of a group in several parts. */
class SplitDistinctSuite extends ChangelogSuite {

  private val schema = "k STRING, v INT, w DOUBLE"

  private val batches = Seq(
    Seq(
      Row("a", 1, 1.5),
      Row("a", 2, null),
      Row("a", 1, -0.0),
      Row("b", null, 2.0),
      Row(null, 7, 0.0)),
    Seq(Row("a", 3, 1.0), Row("b", 5, 2.0), Row("a", 1, 7.0)),
    Nil,
    (1 to 200).map(i => Row(if (i % 10 == 0) "b" else "a", i % 90, i / 4.0)),
    Seq(Row("c", null, null), Row("a", 1000, 0.0))
  )

  private val counts = "(SELECT k, v, count(*) AS n, sum(w) AS w FROM {t} GROUP BY k, v)"

  private val queries = Seq(
    "SELECT k, count(DISTINCT v) AS c, sum(w) AS s, count(*) AS n FROM {t} GROUP BY k",
    "SELECT count(DISTINCT v) AS c, sum(DISTINCT v) AS s, min(w) AS a, max(w) AS b FROM {t}",
    "SELECT k, count(DISTINCT v, w) AS c, count(w) AS n FROM {t} GROUP BY k HAVING count(DISTINCT v, w) > 1",
    "SELECT k, count(DISTINCT v) FILTER (WHERE w > 1) AS c, sum(w) FILTER (WHERE v > 2) AS s FROM {t} GROUP BY k",
    s"SELECT k, count(DISTINCT n) AS c, max(v) AS m, count(*) AS r FROM $counts GROUP BY k",
    s"SELECT count(DISTINCT w) AS c, min(n) AS m FROM $counts WHERE n > 1",
    "SELECT * FROM (SELECT *, row_number() OVER (ORDER BY c DESC, k) AS rn FROM " +
      "(SELECT k, count(DISTINCT v) AS c FROM {t} GROUP BY k)) WHERE rn <= 2"
  )

  private def split[T](body: => T): T = withConf(ChangelogConf.DISTINCT_BUCKETS.key -> 7)(body)

  queries.zipWithIndex.foreach { case (sql, i) =>
    test(s"$i: ${sql.take(100)}") {
      withProvider(providers(i % 2)) {
        split {
          assertFollows(schema, sql, batches, restarts = Set(1, 4))
          val fed = stream(schema, sql)
          try {
            fed.start()
            fed.feed(batches.head)
            val operators = fed.running.lastProgress.stateOperators.map(_.operatorName)
            val aggregates = if (sql.contains(counts)) 3 else 2
            // Each by its number.
            assert(operators.distinct.count(_.startsWith("changelogAggregate ")) == aggregates)
          } finally fed.stop()
        }
      }
    }
  }

  test("one group is in the state of all tasks") {
    split {
      val fed = stream(schema, queries.head)
      try {
        fed.start()
        fed.feed((1 to 500).map(i => Row("a", i, 1.0)))
        val state = spark.read.format("statestore").option("operatorId", 1).load(fed.checkpoint)
        val values = state.where("key.aggregate_set >= 0").groupBy("partition_id").count().collect()
        assert(values.length == 2)
      } finally fed.stop()
    }
  }

  test("a sum of large numbers, whose parts overflow where it does not") {
    val numbers = "k STRING, v BIGINT, w DOUBLE"
    val rows = (0 until 20).map { i =>
      Row("a", if (i % 2 == 0) Long.MaxValue else Long.MinValue, i.toDouble)
    }
    // Spark's own batch query adds in an order in which it does.
    split {
      val fed = stream(numbers, "SELECT k, count(DISTINCT w) AS c, sum(v) AS s FROM {t} GROUP BY k")
      try {
        fed.start()
        fed.feed(rows)
        assert(fed.last == Seq(Row("a", 20L, -10L, "+I")))
      } finally fed.stop()
    }
  }

  test("what cannot be split is as it was") {
    Seq(
      "SELECT k, count(DISTINCT v) AS c, count(DISTINCT w) AS d FROM {t} GROUP BY k",
      "SELECT k, count(DISTINCT v) AS c, avg(w) AS m FROM {t} GROUP BY k",
      "SELECT k, sum(DISTINCT CAST(v AS DECIMAL(5, 1))) AS s FROM {t} GROUP BY k"
    ).foreach { sql =>
      split {
        assertFollows(schema, sql, batches.take(2))
        val fed = stream(schema, sql)
        try {
          fed.start()
          fed.feed(batches.head)
          assert(fed.running.lastProgress.stateOperators.length == 1)
        } finally fed.stop()
      }
    }
  }
}
