package io.firesteel.bench

import io.firesteel.testkit.TimedSuite

import java.io.{OutputStream, PrintStream}
import java.nio.file.{Files, Path}

import org.apache.spark.sql.SparkSession
import org.scalatest.BeforeAndAfterAll

/** The streams of the benchmark on few rows, without Flink. */
class StreamingSuite extends TimedSuite with BeforeAndAfterAll {

  private lazy val folder: Path = Files.createTempDirectory("streaming")
  private lazy val spark: SparkSession =
    BenchSession.start(folder, installed = true, more = StreamingSettings.session)
  private lazy val progress = new Progress(new PrintStream(OutputStream.nullOutputStream()))
  private lazy val data = new DataFolder(folder, progress)
  private lazy val ours = new OurStream(spark, new TaskLog(spark.sparkContext), folder)

  private val words = StreamingBenchmark.all(2000).find(_.name == "words").get

  override protected def afterAll(): Unit = {
    spark.stop()
    super.afterAll()
  }

  private def files(format: String) = StreamedFiles.make(spark, data, words.table, format)

  private def truth(question: StreamingCase): Checksum = {
    files("parquet").batch(spark).createOrReplaceTempView(question.table.name)
    Checksum.read(
      spark.sql(Checksum.of(question.answer, s"(${question.sql}) AS answers")).head())
  }

  test("a checksum tells swapped columns and counts rows") {
    def of(rows: String): Checksum =
      Checksum.read(spark.sql(Checksum.of(Seq("a", "b"), s"(VALUES $rows) AS t(a, b)")).head())
    assert(of("(1L, 2L), (3L, 4L)") == of("(3L, 4L), (1L, 2L)"))
    assert(of("(1L, 2L)") != of("(2L, 1L)") && of("(0L, 0L)").rows == 1)
  }

  test("a changelog adds up to the batch query's answer, in five micro-batches") {
    val expected = truth(words)
    ours.register(words, files("csv"))
    val once = ours.answer(words.sql, words.answer)
    assert(once.answer == expected && once.batches == 5 && once.state.rows > 0)
    assert(once.operators == Seq.fill(2)("Aggregate [I,UB,UA]"))
  }

  test("stock refuses, and with its check off answers an aggregate over an aggregate wrongly") {
    val expected = truth(words)
    ours.register(words, files("parquet"))
    val verdict = new StockStream(spark).verdict(words)
    assert(verdict.asItComes.isInstanceOf[StockOutcome.Refused])
    verdict.unchecked match {
      case StockOutcome.Answered(answer, only) => assert(answer != expected && only.nonEmpty)
      case other => fail(s"$other")
    }
  }

  test("a stream that is fed file by file has a micro-batch for each, and keeps its state") {
    val table = Table("fed", 25, Seq("k" -> "id % 10"))
    val stream = new FedStream(spark, folder.resolve("fed"), table, ManyKeys.sql, Seq("c"))
    try {
      assert(stream.feed(0, 20) > 0 && stream.checksum == stream.truth)
      assert(stream.feed(20, 25) > 0 && stream.checksum == stream.truth)
      val (state, operators) = stream.state
      assert(operators == 2 && state.rows == 12) // ten keys, two counts
    } finally stream.close()
  }
}
