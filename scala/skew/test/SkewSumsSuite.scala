package io.firesteel.skew

import org.apache.spark.sql.SparkSessionExtensions

/** Sums that exceed the range of their type before the end, with distinct values and without. */
class SkewSumsSuite extends SkewSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit = {
    extensions.injectPreCBORule(_ => MergeGlobalAggregates)
    super.install(extensions)
  }

  private val widest = Seq(
    "9223372036854775807L",
    "9" * 38 + "BD",
    "INTERVAL '106751991 04:00:54.775807' DAY TO SECOND")

  test("states that a task sends early are added like others") {
    // One task has the largest number, the other has the same number and its negative.
    spark.range(0, 4, 1, 2).createOrReplaceTempView("four")
    for (widest <- widest; way <- ways.take(2))
      withConf(way: _*) {
        def sql(second: String) =
          s"""SELECT k, count(DISTINCT id), count(DISTINCT id % 2), sum(v), try_sum(v), avg(v) FROM (
             |  SELECT 1 AS k, id,
             |    element_at(array($widest, $second, $widest, -$widest), int(id) + 1) AS v FROM four)
             |GROUP BY k""".stripMargin
        assert(fired(sql("NULL")) == Seq("PlanDistinctAggregate"))
        assertSameOutcome(sql("NULL"))
        spark.sparkContext.setLogLevel("OFF")
        assertSameOutcome(sql(widest))
      }
  }

  test("distinct values are added whatever their order") {
    val numbers = "(9223372036854775807L), (9223372036854775806L), (-9223372036854775807L), " +
      "(-9223372036854775806L), (5L)"
    for (dataType <- Seq("BIGINT", "DECIMAL(38, 19)")) {
      val sql =
        s"SELECT sum(DISTINCT CAST(v AS $dataType)), count(DISTINCT v % 7) FROM VALUES $numbers AS t(v)"
      assert(fired(sql) == Seq("PlanDistinctAggregate"))
      val found = spark.sql(sql).collect().head
      assert(BigDecimal(found.get(0).toString) == 5 && found.getLong(1) == 4)
    }
  }

  test("a sum next to distinct values of another branch does not depend on their order") {
    // Spark merges these branches, too, and first adds up within each distinct value.
    val rows = "(SELECT id % 2 AS a, IF(id % 2 = 0, 1, -1) AS s FROM range(0, 4, 1, 1))"
    val sum = s"SELECT sum(s * 9223372036854775807L) AS s, avg(s * ${"9" * 38}BD) FROM $rows"
    val sql = s"SELECT * FROM (SELECT count(DISTINCT a) FROM $rows), ($sum)"
    assert(fired(sql) == Seq("MergeGlobalAggregates"))
    val alone = stock(spark.sql(sum).collect().head)
    assert(spark.sql(sql).collect().head.toSeq == 2L +: alone.toSeq)
  }
}
