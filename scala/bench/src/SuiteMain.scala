package io.firesteel.bench

import java.nio.file.{Files, Paths}

import scala.util.Using

import org.apache.spark.sql.SparkSession

/** Times the queries of a suite over streams beside Apache Flink, and writes their page. */
abstract class SuiteMain(val suite: String) {

  protected def names: Seq[String]

  /** Sizes of the tables, in words. */
  protected def size(arguments: Arguments): String

  /** Makes the tables, and gives the queries of the names that are asked for. */
  protected def queries(
      spark: SparkSession,
      arguments: Arguments,
      progress: Progress,
      asked: Seq[String]): Seq[SuiteQuery]

  protected def page(results: SuiteResults): String

  final def run(arguments: Arguments): Unit = {
    arguments.requireCases(suite, names)
    val spark =
      BenchSession.start(arguments.data, installed = true, more = StreamingSettings.session)
    try write(arguments, measure(spark, arguments))
    finally spark.stop()
  }

  private def measure(spark: SparkSession, arguments: Arguments): SuiteResults = {
    val scratch = Paths.get("target/bench").resolve(suite)
    WholeFolder.delete(scratch)
    val progress = new Progress(System.err)
    val python = arguments.flink.getOrElse(sys.error("--flink names no Python that has Flink"))
    val heap = s"${Runtime.getRuntime.maxMemory >> 20}m" // as much as Spark has
    Using.resource(new FlinkProcess(python, heap, scratch.resolveSibling("flink.log"))) { flink =>
      val theirs = progress.step("starting Flink")(flink.facts)
      val environment =
        Environment.of(arguments.command, BenchSession.firesteelVersion(spark), spark.version)
      val asked = names.filter(name => arguments.cases.isEmpty || arguments.cases.contains(name))
      val runner = new SuiteRunner(spark, flink, scratch, progress, arguments.pairs)
      SuiteResults(
        suite,
        size(arguments),
        environment.copy(facts = environment.facts ++ theirs.forPage),
        queries(spark, arguments, progress, asked).map(runner.run))
    }
  }

  private def write(arguments: Arguments, results: SuiteResults): Unit = {
    Files.createDirectories(arguments.out)
    val text = page(results)
    Files.writeString(arguments.out.resolve(s"$suite.md"), text)
    Files.writeString(arguments.out.resolve(s"$suite.json"), SuiteJson.of(results))
    println(text)
  }
}
