package io.firesteel.panes

import scala.collection.mutable

import org.apache.spark.sql.{Encoder, Encoders}
import org.apache.spark.sql.expressions.Aggregator
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec
import org.apache.spark.sql.functions.udaf
import org.apache.spark.sql.internal.SQLConf

/** Functions whose states are objects, are as large as the rows, or change when evaluated. */
class PanesOfObjectsSuite extends PanesSuite {

  override protected def settings: Map[String, String] = Map("spark.default.parallelism" -> "8")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark.sql("SELECT id % 5 AS k, (id * 37) % 1000 AS v, timestamp_seconds(id * 600) AS ts " +
      "FROM range(3000)").createOrReplaceTempView("events")
    val _ = spark.udf.register("three_least", udaf(PanesOfObjectsSuite.ThreeLeast))
  }

  test("a user's function that empties its buffer") {
    Seq("3 hours", "8 hours").foreach { size =>
      val sql =
        s"SELECT k, window, three_least(v), count(*) FROM events GROUP BY k, window(ts, '$size', '1 hour')"
      assert(fired(sql) == Seq("PlanPanes"))
      assertSameAnswer(sql)
    }
  }

  test("what is computed twice is computed once") {
    val one = "(SELECT k, window.start AS b, sum(v) AS s, count(*) AS n FROM events " +
      "GROUP BY k, window(ts, '6 hours', '1 hour') DISTRIBUTE BY s)"
    val sql = s"SELECT n, count(*) FROM ($one UNION ALL $one) GROUP BY n"
    withConf(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> false) {
      assert(fired(sql).contains("PlanPanes"))
      val plan = executed(spark.sql(sql))
      assert(plan.collect { case panes: PaneWindowsExec => panes }.size == 1, plan)
      assert(plan.collect { case again: ReusedExchangeExec => again }.size == 1, plan)
    }
    assertSameAnswer(sql)
  }

  test("sketches that are merged anew for each window") {
    withConf("spark.firesteel.panes.maxTaskMemory" -> "1") {
      val sql =
        "SELECT k, window, approx_percentile(v, array(0.1, 0.9)) AS p, three_least(v) AS t FROM events " +
          "GROUP BY k, window(ts, '20 hours', '1 hour')"
      assert(fired(sql) == Seq("PlanPanes"))
      assertSameAnswer(sql)
    }
  }

  test("without keys, one task does not replace many") {
    def lists(size: String, key: String = "") =
      s"SELECT ${key}window, sort_array(collect_list(v)) FROM events GROUP BY ${key}window(ts, '$size', '1 hour')"
    assert(declines(lists("2 hours")) == Set("PANES.ONE_TASK"))
    assertSameAnswer(lists("2 hours"))
    // With more windows a row than tasks, or with states of a fixed size, panes are faster.
    val sums = lists("2 hours").replace("sort_array(collect_list(v))", "sum(v)")
    Seq(lists("9 hours"), lists("2 hours", "k, "), sums).foreach { sql =>
      assert(fired(sql) == Seq("PlanPanes"), sql)
      assertSameAnswer(sql)
    }
  }
}

private object PanesOfObjectsSuite {

  /** The three least numbers. Evaluating it removes them from the queue that keeps them. */
  object ThreeLeast extends Aggregator[Long, mutable.PriorityQueue[Long], String] {
    override def zero: mutable.PriorityQueue[Long] = mutable.PriorityQueue.empty

    override def reduce(
        kept: mutable.PriorityQueue[Long],
        more: Long): mutable.PriorityQueue[Long] = {
      kept += more
      if (kept.size > 3) kept.dequeue()
      kept
    }

    override def merge(
        one: mutable.PriorityQueue[Long],
        other: mutable.PriorityQueue[Long]): mutable.PriorityQueue[Long] = {
      other.foreach(reduce(one, _))
      one
    }

    override def finish(kept: mutable.PriorityQueue[Long]): String =
      kept.dequeueAll[Long].mkString(" ")

    override def bufferEncoder: Encoder[mutable.PriorityQueue[Long]] =
      Encoders.kryo[mutable.PriorityQueue[Long]]

    override def outputEncoder: Encoder[String] = Encoders.STRING
  }
}
