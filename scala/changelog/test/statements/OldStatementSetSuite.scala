package io.firesteel.changelog.statements

import io.firesteel.changelog.{ChangelogSuite, ZippedCheckpoint}
import io.firesteel.testkit.SinceSpark

import java.nio.file.{Files, Paths}

import org.apache.spark.sql.Row
import org.apache.spark.sql.types.StructType

/**
 * A checkpoint that an early commit with statement sets wrote, when the rows of all statements were
 * one part: it goes on with the right answer. It is written as those of `OldCheckpointsSuite` are.
 */
class OldStatementSetSuite extends ChangelogSuite {
  import FedStatements.{kinds, Statement}

  private val before = Seq(
    Seq(Row("a", 1), Row("a", 5), Row("b", 2), Row(null, 3)),
    Seq(Row("b", 9), Row("c", 1), Row("a", 7), Row("c", null)))
  private val after = Seq(
    Seq(Row("c", 8), Row("d", 4), Row(null, 6), Row("a", 6)),
    Seq(Row("a", 2), Row("d", 4), Row("b", 9)))

  private def newSet = new FedStatements(
    spark,
    StructType.fromDDL("k STRING, v INT"),
    Seq(
      Statement(s"SELECT *$kinds FROM {sums}"),
      Statement(s"SELECT k, v, place$kinds FROM (SELECT *, row_number() OVER (PARTITION BY k " +
        "ORDER BY v DESC) AS place FROM {t}) WHERE place <= 2"),
      Statement(s"SELECT n, k$kinds FROM {sums} WHERE n > 1"),
      Statement("SELECT * FROM {t} WHERE v > 1"),
      Statement("SELECT n, count(*) AS c FROM {sums} GROUP BY n", "complete"),
      Statement(s"SELECT n, count(*) AS c$kinds FROM {sums} GROUP BY n")
    ),
    Seq("sums" -> "SELECT k, count(*) AS n, sum(v) AS s FROM {t} GROUP BY k")
  )

  // Spark reads no checkpoint of a later version.
  for {
    store <- Seq("default" -> hdfs, "rocksdb" -> rocksDb)
    if SinceSpark.is("4.3")
  } test(s"a set, ${store._1}") {
    val file = Paths.get(s"scala/changelog/test-resources/checkpoints/4.3/set-${store._1}.zip")
    withProvider(store._2) {
      if (sys.env.contains("FIRESTEEL_WRITE_CHECKPOINTS") && !Files.exists(file)) {
        val written = newSet
        try {
          written.start()
          before.foreach(written.feed)
        } finally written.stop()
        ZippedCheckpoint.write(Paths.get(written.checkpoint), file)
      }
      val set = newSet
      set.checkpoint = ZippedCheckpoint.read(file).toString
      try {
        before.foreach(set.addBefore)
        set.start()
        after.foreach { rows =>
          set.feed(rows)
          assert(set.differences == Nil)
        }
      } finally set.stop()
    }
  }
}
