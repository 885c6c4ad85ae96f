package io.firesteel.changelog.rules

import io.firesteel.changelog.ChangelogSuite
import io.firesteel.changelog.common.ChangelogConf
import io.firesteel.changelog.sql.StateTtl
import io.firesteel.core.decide.Explain
import org.apache.spark.sql.{AnalysisException, Encoders, Row}
import org.apache.spark.sql.execution.SimpleMode
import org.apache.spark.sql.firesteel.{executionOf, lastBatchOf}
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.StructType

/** A stream that is not started: `ExplainStream` and `df.explain()`. */
class ExplainStreamSuite extends ChangelogSuite {

  private lazy val input = {
    val made =
      memoryStream[Row](spark)(Encoders.row(StructType.fromDDL("k STRING, v INT, op STRING")))
    made.toDF().createOrReplaceTempView("events")
    made
  }

  private val cascade =
    "SELECT c, count(*) AS n FROM (SELECT k, count(*) AS c FROM events GROUP BY k) GROUP BY c"
  private val distinct = "SELECT k, count(DISTINCT v) AS c FROM events GROUP BY k"

  private def explained(sql: String, mode: OutputMode = OutputMode.Append()): Explain = {
    require(input != null)
    ExplainStream(spark, executionOf(spark.sql(sql)).analyzed, mode)
  }

  /** What `explain()` prints; of a Dataset as SQL gives it, Spark does not know that it is a stream. */
  private def text(sql: String): String = {
    require(input != null)
    executionOf(spark.sql(sql).select("*")).explainString(SimpleMode)
  }

  test("each operator's changelog mode and keys, strategies and state, before a row has come") {
    val explain = explained(cascade)
    assert(explain.plan.startsWith(
      """Changelog:
        |Project [I,UB,UA,D], upsert key (c)
        |+- Aggregate [I,UB,UA,D], upsert key (c)
        |   +- Project [I,UB,UA]
        |      +- Aggregate [I,UB,UA], upsert key (k)
        |""".stripMargin))
    assert(explain.fired.map(_.values("changelogMode")) == Seq("[I,UB,UA,D]", "[I,UB,UA]"))
    assert(explain.fired.forall(_.values("state").contains("aggregate_rows_count")))
    assert(explain.plan.contains("ChangelogAggregate") && explain.plan.contains("Exchange"))
  }

  test("how long state is kept") {
    withConf(ChangelogConf.STATE_TTL.key -> "2s") {
      val kept = "kept for 2000 ms after it was last written"
      assert(explained(cascade).fired.forall(_.values("state").endsWith(kept)))
    }
    assert(explained(cascade).fired.forall(!_.values("state").contains("kept for")))
  }

  private def kept(sql: String, mode: OutputMode = OutputMode.Append()): Seq[String] =
    explained(sql, mode).fired.map { operator =>
      val state = operator.values.getOrElse("state", "")
      val its = "kept for (\\d+ ms)".r.findFirstMatchIn(state).fold("ever")(_.group(1))
      s"${operator.values("operator")} $its"
    }

  private val counts = "SELECT k, count(*) AS n FROM events GROUP BY k"

  test("a hint says how long the operators below it keep state, unless one below says otherwise") {
    def hinted(sql: String, ttl: String) =
      sql.replaceFirst("SELECT", s"SELECT /*+ STATE_TTL('$ttl') */")
    val top =
      s"SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY n ORDER BY k) AS rn FROM ($counts)) WHERE rn <= 2"
    val inner = top.replace("(SELECT *, row", "(SELECT /*+ STATE_TTL('3s') */ *, row")
    assert(kept(hinted(counts, "2s")) == Seq("Aggregate 2000 ms"))
    assert(kept(hinted(top, "2 s")) == Seq("TopN 2000 ms", "Aggregate 2000 ms"))
    assert(kept(inner) == Seq("TopN 3000 ms", "Aggregate 3000 ms"))
    assert(kept(hinted(inner, "2s")) == Seq("TopN 3000 ms", "Aggregate 3000 ms"))
    assert(kept(top.replace(counts, hinted(counts, "1s"))) == Seq("TopN ever", "Aggregate 1000 ms"))
    assert(kept(s"${hinted(counts, "2s")} ORDER BY count(*) DESC, k LIMIT 3 OFFSET 1") ==
      Seq("TopN 2000 ms", "Aggregate 2000 ms"))
    val ordered = s"SELECT n, count(*) AS m FROM ($counts) GROUP BY n HAVING m > 1 ORDER BY m"
    assert(kept(hinted(ordered, "2s"), OutputMode.Complete()) ==
      Seq("Table ever", "Aggregate 2000 ms", "Aggregate 2000 ms"))
    assert(kept(s"WITH c AS (${hinted(counts, "2s")}) SELECT n, count(*) FROM c GROUP BY n") ==
      Seq("Aggregate ever", "Aggregate 2000 ms"))
    assert(kept(s"SELECT /*+ STATE_TTL('2s') */ DISTINCT n FROM ($counts)") ==
      Seq("Aggregate 2000 ms", "Aggregate 2000 ms"))
    assert(kept(hinted("SELECT k FROM from_changelog(TABLE(events), keys => array('k'))", "2s")) ==
      Seq("Normalize 2000 ms"))
    // Over what keeps no state it says nothing, whatever that is.
    spark.range(3).selectExpr("CAST(id AS STRING) AS id").createOrReplaceTempView("ids")
    val joined = s"(${hinted("SELECT * FROM events", "2s")}) AS e JOIN ids ON e.k = ids.id"
    assert(kept(s"SELECT v, count(DISTINCT k) FROM $joined GROUP BY v") == Seq("Aggregate ever"))
    assert(
      kept(
        s"SELECT /*+ STATE_TTL('c=2s') */ c.k, n, id FROM ($counts) c JOIN ids ON c.k = ids.id") ==
        Seq("Normalize 2000 ms", "Aggregate ever"))
    Seq(
      "k, count(*) FROM events GROUP BY ROLLUP(k)",
      "window(now, '1 hour', '5 minutes'), count(*) FROM (SELECT *, timestamp_seconds(v) AS now FROM events) AS events GROUP BY 1",
      "e, count(*) FROM events LATERAL VIEW explode(sequence(1, v)) AS e GROUP BY e"
    ).foreach(sql =>
      assert(kept(s"SELECT /*+ STATE_TTL('events=2s') */ $sql") == Seq("Aggregate 2000 ms")))
    assert(kept(s"SELECT /*+ STATE_TTL('c=2s') */ DISTINCT n FROM ($counts) c") ==
      Seq("Aggregate 2000 ms", "Aggregate ever"))
    withConf(ChangelogConf.STATE_TTL.key -> "9s") {
      assert(kept(s"SELECT n, count(*) FROM (${hinted(counts, "0")}) GROUP BY n") ==
        Seq("Aggregate 9000 ms", "Aggregate ever"))
    }
  }

  test("a hint of a DataFrame, in a batch query, and over a query that Spark runs by itself") {
    val counted = spark.table("events").groupBy("k").count()
    val hinted = counted.hint("STATE_TTL", "2s").groupBy("count").count()
    val explain = ExplainStream(spark, executionOf(hinted).analyzed, OutputMode.Append())
    assert(explain.fired.map(_.values("state").contains("kept for 2000 ms")) == Seq(false, true))
    val batch =
      spark.sql("SELECT /*+ STATE_TTL('2s') */ id % 2 AS k, count(*) FROM range(9) GROUP BY 1 ORDER BY count(*)")
    assert(!executed(batch).toString.contains("StateTtl") && batch.collect().length == 2)
    val sparks = spark.sql("SELECT /*+ STATE_TTL('2s') */ k, count(*) AS n FROM events GROUP BY k")
    val query = sparks.writeStream.outputMode("complete").format("noop").start()
    try {
      input.addData(Row("a", 1, "I"))
      query.processAllAvailable()
      assert(query.lastProgress.stateOperators.map(_.operatorName).toSeq == Seq("stateStoreSave"))
      assert(!lastBatchOf(query).get.analyzed.exists(_.isInstanceOf[StateTtl]))
    } finally query.stop()
  }

  test("a hint without a time is refused") {
    Seq("", "'soon'", "'1d', '2d'", "7", "'-1s'").foreach { said =>
      val sql = s"SELECT /*+ STATE_TTL${if (said.isEmpty) "" else s"($said)"} */ k FROM events"
      val error = intercept[Exception](spark.sql(sql))
      assert(error.getMessage.contains("FIRESTEEL_CHANGELOG_BAD_STATE_TTL"), said)
      assert(error.getMessage.contains(s"STATE_TTL($said)"))
    }
  }

  test("a source of changes, and what stands on it") {
    val from = "from_changelog(TABLE(events), keys => array('k'))"
    val explain = explained(s"SELECT v, count(*) AS n FROM $from GROUP BY v")
    assert(explain.plan.contains("Normalize [I,UB,UA,D], upsert key (k)\n"))
    assert(explain.plan.contains("Source [I]"))
    assert(explain.fired.map(_.values("operator")) == Seq("Aggregate", "Normalize"))
  }

  test("the mode decides which rows are told") {
    assert(explained(distinct).fired.head.values("changelogMode") == "[I,UB,UA]")
    val update = explained(distinct, OutputMode.Update())
    assert(update.fired.head.values("changelogMode") == "[I,UA]")
    assert(update.plan.contains("Aggregate [I,UA], upsert key (k)"))
    val complete = explained(s"$cascade ORDER BY n", OutputMode.Complete())
    assert(complete.fired.map(_.values("operator")) == Seq("Table", "Aggregate", "Aggregate"))
  }

  test("what cannot be started in a mode is refused as it would be then") {
    val error = intercept[Exception](explained(cascade, OutputMode.Update()))
    assert(error.getMessage.contains("FIRESTEEL_CHANGELOG_NOT_AN_UPSERT"))
  }

  test("what Spark runs by itself is shown as Spark's") {
    val counts = "SELECT k, count(*) AS c FROM events GROUP BY k"
    Seq(OutputMode.Update(), OutputMode.Complete()).foreach { mode =>
      val explain = explained(counts, mode)
      assert(explain.fired.isEmpty && explain.plan.contains("StateStoreSave"))
    }
    assert(explained(counts).fired.nonEmpty, "append mode is refused by Spark, and ours")
    assert(text(counts).contains("StateStoreSave"))
    assert(!text("SELECT k FROM events WHERE v > 1").contains("Changelog"))
  }

  test("explain() of a query that Spark refuses in every mode shows ours") {
    Seq(cascade, s"SELECT *, row_kind() AS op FROM ($cascade)").foreach { sql =>
      val plan = text(sql)
      assert(plan.contains("ChangelogAggregate") && plan.contains("[I,UB,UA,D]"))
      assert(!plan.contains("StateStoreSave"))
    }
    val shown = new java.io.ByteArrayOutputStream()
    Console.withOut(shown)(spark.sql(distinct).where("c > 1").explain())
    assert(shown.toString.contains("ChangelogAggregate"))
    assert(text("SELECT * FROM from_changelog(TABLE(events), keys => 'k')")
      .contains("ChangelogNormalize"))
  }

  test("EXPLAIN of SQL is not known to be of a stream before Spark refuses it") {
    require(input != null)
    val shown = spark.sql(s"EXPLAIN $cascade").collect().map(_.getString(0)).mkString("\n")
    assert(shown.contains("writeStream.start()"))
  }

  test("a join without an equality is named, with what it costs") {
    val crossed =
      explained("SELECT a.v, row_kind() AS op FROM events a JOIN events b ON a.v < b.v").plan
    assert(crossed.contains("INNER JOIN has no equality (= or <=>) between its inputs"))
    val keyed =
      explained("SELECT a.v, row_kind() AS op FROM events a JOIN events b ON a.v = b.v").plan
    assert(!keyed.contains("no equality"))
  }

  test("switched off, explain() shows what Spark makes of it") {
    withConf(ChangelogConf.ENABLED.key -> false) {
      assert(!text(cascade).contains("Changelog"))
      val refused = intercept[AnalysisException](explained(cascade))
      assert(refused.getMessage.contains("streaming aggregations"))
    }
  }
}
