package io.firesteel.bench

import java.nio.file.{Files, Paths}

import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.scalatest.funsuite.AnyFunSuite

/**
 * The arithmetic and the texts of streaming queries beside Flink, without Spark and without Flink.
 */
class StreamingMeasuringSuite extends AnyFunSuite {

  private val cases = StreamingBenchmark.all(5000000)

  private def result(seconds: (String, Seq[Double])*): StreamingResult = {
    val unchecked = StockOutcome.Answered(Checksum(7, 9), None)
    val refused = StockOutcome.Refused("CONDITION", "Multiple aggregations")
    val all = StreamingContestant.all.map(_ -> Seq(1.0, 1.0, 1.0)).toMap ++ seconds
    StreamingResult(
      cases.head,
      StockOutcome.Answered(Checksum(1, 3), Some("words = 3")),
      StockVerdict(refused, unchecked),
      5,
      StateSize(10, 100),
      Seq("TopN AppendFast [I,D]"),
      "== Optimized Physical Plan ==\nSink\n+- Rank\n\n== Optimized Execution Plan ==\nSink",
      rounds(all.view.filterKeys(StreamingContestant.all.take(2).contains).toMap),
      rounds(all)
    )
  }

  private def rounds(seconds: Map[String, Seq[Double]]): Rounds =
    Rounds(seconds.map { case (name, runs) => name -> runs.map(Run(_, Nil)) })

  private val machine = Environment(Seq("command" -> "`build/bench streaming`"))

  private val small = SmallBatchesOutcome(SmallBatches.defaultProvider, 4, 4, 100, Seq(1.5, 2.0))

  private val many =
    ManyKeysOutcome(1024, 1000000, 10000000, 100000, Seq(2.0, 2.0), Seq(2.5, 2.7), 10000000, 60)

  test("a case is judged by how many times longer Flink takes in the same round") {
    val judged = result("Flink" -> Seq(4.0, 40.0, 6.0), "firesteel" -> Seq(2.0, 10.0, 2.0))
    assert(judged.speedUp.median == 3.0)
    assert(judged.target.map(_.verdict(judged.speedUp)).contains("met"))
  }

  test("warm-up lasts until every contestant has run long enough, and twice") {
    def asked(seconds: Double): Int =
      WarmUp
        .until(_ => Seq("fast" -> Run(seconds, Nil), "slow" -> Run(3 * seconds, Nil)))
        .runs("slow")
        .size
    assert(asked(2.0) == 15 && asked(2.1) == 15 && asked(7.0) == 5 && asked(100.0) == 2)
  }

  test(
    "the page says what is missed, what stock answers and where the many keys did not complete") {
    val results = StreamingResults(machine, "csv", Seq(result()), Seq(small), Some(None))
    val page = StreamingPage.of(results)
    assert(page.contains("| 1.00 (1.00–1.00) | missed by 50.0 % |"))
    assert(page.contains("refused: `CONDITION` Multiple aggregations | **wrong**: 7 rows"))
    assert(page.contains("| words = 3 | equal, both |"))
    assert(page.contains("| it did not complete | missed |") && page.contains("missed by 75.0 %"))
    assert(page.contains("```text\nSink\n+- Rank\n```"))
  }

  test("each format has a page and a picture of its own") {
    def results(format: String) = StreamingResults(machine, format, Seq(result()), Seq(small), None)
    assert(results("csv").name == "streaming" && results("parquet").name == "streaming-parquet")
    val page = StreamingPage.of(results("parquet"))
    assert(page.contains("(streaming-parquet.svg)") && page.contains("the same Parquet files"))
  }

  test("many keys are judged micro-batch by micro-batch") {
    val page = StreamingPage.of(StreamingResults(machine, "csv", Nil, Nil, Some(Some(many))))
    assert(page.contains("\n| --- | --- |\n| 1,000,000 | 2.00 (2.00–2.00) |\n"))
    assert(page.contains("| 1.30 (1.25–1.35) | met |") && !page.contains("## How both were run"))
  }

  test("the JSON has what the picture is drawn from") {
    val json = StreamingJson.of(StreamingResults(
      machine,
      "csv",
      Seq(result()),
      Seq(small),
      Some(Some(many))))
    Seq("\"speedUp\"", "\"ratio\" : \"Flink / firesteel\"", "\"noise\" : false", "\"met\" : false")
      .foreach(part => assert(json.contains(part), json))
  }

  test("the outcome of the small JVM arrives, and its absence means that it did not complete") {
    val folder = Files.createTempDirectory("bench")
    StreamingFile.save(folder.resolve("below/outcome.json"), many)
    assert(StreamingFile.load(folder.resolve("below/outcome.json")).contains(many))
    assert(StreamingFile.load(folder.resolve("absent.json")).isEmpty)
  }

  test("Flink reads the same files, with event time where the case says so") {
    val latest = cases.find(_.name == "latest").get
    val schema = new StructType().add("k", LongType).add("ts", LongType).add("v", LongType)
    def jobs(question: StreamingCase, schema: StructType) = new FlinkJobs(
      question,
      StreamedFiles(Paths.get("/data/updates"), "csv", schema),
      Paths.get("/scratch"))
    val events = jobs(latest, schema)
    val source = events.timed.ddl.head
    assert(source.contains("'format' = 'csv'") && source.contains("`k` BIGINT,"))
    assert(source.contains("'path' = 'file:///data/updates") && source.contains("`ts` BIGINT,"))
    assert(source.contains("WATERMARK FOR event_time AS event_time\n)"))
    assert(events.timed.sql.contains("ORDER BY event_time DESC"))
    assert(
      events.answer.ddl.size == 1 && events.answer.sql.startsWith("SELECT COUNT(*) AS row_count"))
    val text = jobs(cases.find(_.name == "words").get, new StructType().add("word", StringType))
    assert(text.scan.ddl.last.contains("answers (`word` STRING)"))
  }

  test("every case has five micro-batches and a target") {
    assert(cases.forall(_.table.files / StreamingBenchmark.filesPerBatch >= 5))
    assert(cases.flatMap(_.target) == Seq(2.0, 1.5, 1.5, 2.0, 1.0))
  }
}
