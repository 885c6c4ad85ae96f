package io.firesteel.bench

import java.nio.file.{Files, Path, Paths}

import scala.util.Using

import org.apache.spark.sql.SparkSession

/** Times streaming queries beside Apache Flink, and writes their page. */
object StreamingMain {

  val suite: String = "streaming"

  private val scratch: Path = Paths.get("target/bench/streaming")

  def run(arguments: Arguments): Unit = {
    val beside = StreamingBenchmark.all(arguments.rows)
    val names = beside.map(_.name) ++ Seq(SmallBatches.name, ManyKeys.name)
    val unknown = arguments.cases.filterNot(names.contains)
    val format = StreamedFiles.formats.contains(arguments.format)
    if (unknown.nonEmpty || arguments.noise || !format) {
      val wrong =
        if (arguments.noise) s"no --noise in $suite"
        else if (!format) s"--format must be one of ${StreamedFiles.formats.mkString(", ")}"
        else s"no case ${unknown.mkString(", ")}; there are ${names.mkString(", ")}"
      System.err.println(s"bench: $wrong\n${Arguments.usage}")
      sys.exit(2)
    }
    def asked(name: String): Boolean = arguments.cases.isEmpty || arguments.cases.contains(name)

    WholeFolder.delete(scratch) // checkpoints of Flink, and of a run that was stopped
    val spark =
      BenchSession.start(arguments.data, installed = true, more = StreamingSettings.session)
    try {
      if (arguments.memoryCase) manyKeys(spark, arguments)
      else measure(spark, arguments, beside.filter(one => asked(one.name)), asked)
    } finally spark.stop()
  }

  private def manyKeys(spark: SparkSession, arguments: Arguments): Unit = {
    val progress = new Progress(System.err)
    val outcome = new ManyKeys(spark, scratch, progress, arguments.rows).run(batches(arguments))
    arguments.memoryResult.foreach(StreamingFile.save(_, outcome))
  }

  /** More rounds than for a long query, because these are short. */
  private def batches(arguments: Arguments): Int = arguments.pairs * 3

  private def measure(
      spark: SparkSession,
      arguments: Arguments,
      cases: Seq[StreamingCase],
      asked: String => Boolean): Unit = {
    val progress = new Progress(System.err)
    val environment =
      Environment.of(arguments.command, BenchSession.firesteelVersion(spark), spark.version)
    val small =
      if (asked(SmallBatches.name)) {
        new SmallBatches(spark, scratch, progress).run(batches(arguments))
      } else Nil
    val (facts, beside) =
      if (cases.isEmpty) (Nil, Nil) else besideFlink(spark, arguments, cases, progress)
    val results = StreamingResults(
      environment.copy(facts = environment.facts ++ facts),
      arguments.format,
      beside,
      small,
      if (asked(ManyKeys.name)) arguments.memoryResult.map(StreamingFile.load) else None
    )
    write(arguments.out, results)
  }

  private def besideFlink(
      spark: SparkSession,
      arguments: Arguments,
      cases: Seq[StreamingCase],
      progress: Progress): (Seq[(String, String)], Seq[StreamingResult]) = {
    val python = arguments.flink.getOrElse(sys.error("--flink names no Python that has Flink"))
    val heap = s"${Runtime.getRuntime.maxMemory >> 20}m" // as much as Spark has
    Using.resource(new FlinkProcess(python, heap, scratch.resolveSibling("flink.log"))) { flink =>
      val facts = progress.step("starting Flink")(flink.facts)
      val data = new DataFolder(arguments.data, progress)
      val runner =
        new StreamingRunner(
          spark,
          flink,
          data,
          arguments.format,
          scratch,
          progress,
          arguments.pairs)
      val results = cases.zipWithIndex.map { case (question, i) =>
        progress.line(s"case ${i + 1} of ${cases.size}: ${question.title}")
        runner.run(question)
      }
      (facts.forPage, results)
    }
  }

  private def write(out: Path, results: StreamingResults): Unit = {
    Files.createDirectories(out)
    val page = StreamingPage.of(results)
    Files.writeString(out.resolve(s"${results.name}.md"), page)
    Files.writeString(out.resolve(s"${results.name}.json"), StreamingJson.of(results))
    println(page)
  }
}
