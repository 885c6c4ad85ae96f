package io.firesteel.changelog.join

import io.firesteel.changelog.{ChangelogStream, ChangelogSuite}
import io.firesteel.changelog.checkpoint.RepartitionState
import io.firesteel.changelog.common.ChangelogConf
import org.apache.spark.sql.Row
import org.apache.spark.sql.firesteel.hasEmptyStores
import org.apache.spark.sql.types.StructType

/** The state of joins in real stores: keys of many rows, and what others make of it. */
class JoinStateSuite extends ChangelogSuite {

  private val schema = "s STRING, k INT, v INT, op STRING"
  private val full =
    "SELECT * FROM (SELECT k, v FROM {t} WHERE s = 'a') FULL JOIN " +
      "(SELECT k AS bk, v AS bv FROM {t} WHERE s = 'b') ON k = bk"

  private def changes(sql: String): ChangelogStream = new ChangelogStream(
    spark,
    StructType.fromDDL(schema),
    sql,
    new ChangelogStream.Changes(
      name => s"from_changelog(TABLE($name), 'op')",
      fed =>
        fed.foldLeft(Vector.empty[Row]) { (rows, change) =>
          val row = Row.fromSeq(change.toSeq.init)
          if (change.getString(3) == "+I") rows :+ row else rows.diff(Seq(row))
        }
    )
  )

  private def rows(s: String, vs: Seq[Int], op: String): Seq[Row] = vs.map(v => Row(s, 1, v, op))

  private def feed(fed: ChangelogStream, batches: Seq[Row]*): Unit = batches.foreach { rows =>
    fed.feed(rows)
    fed.difference.foreach(d => fail(d))
  }

  for {
    provider <- providers
    (what, condition) <- Seq("" -> "", ", with a condition" -> " AND v % 3 < bv % 5")
  } test(s"a key of many rows grows and shrinks$what, ${provider.split('.').last}") {
    withProvider(provider) {
      val fed = changes(full + condition)
      try {
        fed.start()
        feed(
          fed,
          rows("a", 0 until 60, "+I") ++ rows("b", Seq(1, 2), "+I"),
          rows("a", (60 until 90) ++ Seq(1, 1), "+I"),
          rows("b", 3 until 33, "+I"),
          rows("b", Seq(2, 9), "-D"))
        fed.restart()
        feed(
          fed,
          rows("a", 5 until 80, "-D") ++ rows("b", Seq(77), "+I"),
          rows("a", Seq(0, 1, 1), "-D"),
          rows("b", (3 until 33).filter(_ != 9) ++ Seq(1, 77), "-D"))
      } finally fed.stop()
    }
  }

  providers.foreach { provider =>
    test(s"Spark's own reader of state shows the rows of both sides, ${provider.split('.').last}") {
      withProvider(provider) {
        val fed = changes(full)
        try {
          fed.start()
          fed.feed(rows("a", 0 until 20, "+I") ++ rows("b", Seq(7, 7), "+I"))
          val state = spark.read.format("statestore").load(fed.checkpoint)
          def side(name: String) = state
            .selectExpr("key.join_key_0 AS k", s"explode(value.join_$name) AS its")
            .selectExpr("k", "its.row.column_0 AS v", "its.copies AS copies").collect().toSeq
          assertSameRows(side("left"), (0 until 20).map(v => Row(1, v, 1L)), "left rows")
          assertSameRows(side("right"), Seq(Row(1, 7, 2L)), "right rows")
        } finally fed.stop()
      }
    }

    if (hasEmptyStores || provider == hdfs) {
      test(s"state is split into other numbers of partitions, ${provider.split('.').last}") {
        withProvider(provider) {
          val fed = changes(full)
          try {
            fed.start()
            val keys = (0 until 50).map(k => Row("a", k % 10, k, "+I"))
            feed(
              fed,
              rows("a", 0 until 40, "+I") ++ keys,
              keys.take(7).map(r => Row("b", r(1), 0, "+I")))
            fed.stop()
            val _ = RepartitionState(spark, fed.checkpoint, 5)
            fed.start()
            feed(
              fed,
              rows("a", 3 until 40, "-D") ++ keys.map(r => Row("b", r(1), 1, "+I")),
              keys.take(7).map(r => Row("b", r(1), 0, "-D")))
          } finally fed.stop()
        }
      }
    }
  }

  test("with a time to live each row has an entry, and a checkpoint without one refuses it") {
    val fed = changes(full)
    try {
      fed.start()
      fed.feed(rows("a", 0 until 3, "+I"))
      fed.stop()
      withConf(ChangelogConf.STATE_TTL.key -> "1d") {
        fed.start()
        val error = intercept[Exception](fed.feed(rows("a", 0 until 3, "+I")))
        assert(error.getMessage.contains("STATE_TTL"), error.getMessage)
      }
    } finally fed.stop()
    withConf(ChangelogConf.STATE_TTL.key -> "1d") {
      val kept = changes(full)
      try {
        kept.start()
        kept.feed(rows("a", 0 until 3, "+I"))
        assert(spark.read.format("statestore").load(kept.checkpoint).count() == 3)
      } finally kept.stop()
    }
  }
}
