package io.firesteel.changelog.state

import io.firesteel.changelog.ChangelogSuite
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.state.inputs.UnevenPartitions
import io.firesteel.testkit.Logged
import org.apache.spark.sql.Row

class UnevenPartitionsSuite extends ChangelogSuite {

  private val enough = UnevenPartitions.enough

  test("a partition has far more rows than the others") {
    def largest(rows: Long*) = UnevenPartitions.largest(rows.indices.zip(rows).toMap).map(_._1)
    assert(largest(0L, enough) == Some(1))
    assert(largest(0L, enough - 1) == None)
    assert(largest(enough, enough) == None)
    assert(largest(enough / 5, enough) == None)
    assert(largest(enough * 9) == None)
    assert(largest(Seq.fill(10)(enough / 10) :+ enough: _*) == Some(10))
    assert(largest(Seq.fill(10)(enough / 2) :+ enough: _*) == None)
  }

  test("a query is warned once, if it is distributed by some of its keys") {
    val sql = "SELECT k, count(*) FROM (SELECT k, g, count(*) FROM {t} GROUP BY k, g) GROUP BY k"
    def warnings(partialKey: Boolean, keys: Long) =
      withConf(ChangelogConf.PARTIAL_KEY.key -> partialKey) {
        val fed = stream("k BIGINT, g BIGINT", sql)
        Logged("io.firesteel.changelog.aggregate") {
          try {
            fed.start()
            fed.feed((0L until enough).map(g => Row(g % keys, g)))
            fed.feed((enough until enough + 9).map(g => Row(g % keys, g)))
            fed.difference.foreach(fail(_))
          } finally fed.stop()
        }.filter(_.contains("some of its keys"))
      }
    val told = warnings(partialKey = true, keys = 1)
    assert(told.size == 1)
    val warning = told.head
    assert(warning.contains("distributed by [k], some of its keys [k, g]"))
    assert(warning.contains(s"${enough + 1} of the ${enough + 1} rows of state"))
    assert(warning.contains(s"${ChangelogConf.PARTIAL_KEY.key} = false"))
    assert(warnings(partialKey = true, keys = 1000) == Nil)
    assert(warnings(partialKey = false, keys = 1) == Nil)
  }
}
