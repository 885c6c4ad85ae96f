package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.ChangelogSuite

import org.apache.spark.sql.Row

/** Conditions that are false for a whole micro-batch, above operators with state. */
class ConstantConditionsSuite extends ChangelogSuite {

  test("operators below a condition that time or a constant makes false write their state") {
    val distinct = "(SELECT DISTINCT k FROM {t}) d"
    Seq(
      s"SELECT k FROM $distinct WHERE now() > TIMESTAMP '2999-01-01 00:00:00'",
      s"SELECT k FROM $distinct WHERE k > 0 AND 1 = 0",
      s"SELECT d.k FROM $distinct JOIN VALUES (1), (2) AS x (k) ON d.k = x.k AND hour(now()) > 24",
      s"SELECT d.k, y FROM $distinct LEFT JOIN VALUES (1, 5) AS x (k, y) ON d.k = x.k AND now() IS NULL"
    ).foreach { sql =>
      val fed = stream("k INT", sql)
      try {
        fed.start()
        Seq(1, 2, 1).foreach { k =>
          fed.feed(Seq(Row(k)))
          assert(fed.running.lastProgress.stateOperators.map(_.numRowsTotal).sum > 0, sql)
          fed.difference.foreach(fail(_))
        }
      } finally fed.stop()
    }
  }
}
