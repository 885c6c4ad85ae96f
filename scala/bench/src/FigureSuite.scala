package io.firesteel.bench

import java.nio.file.{Files, Path, Paths}

import org.apache.spark.sql.SparkSession

/**
 * A part of a suite: some figures of one kind.
 *
 * @param note what is measured, on the page
 */
final case class FigurePart(
    name: String,
    note: String,
    measure: (SparkSession, Path, Progress, Arguments) => Seq[Figure])

/** Times streams against each other without Flink, and writes their page. */
abstract class FigureSuite(val suite: String, val title: String) {

  def parts: Seq[FigurePart]

  final def run(arguments: Arguments): Unit = {
    arguments.requireCases(suite, parts.map(_.name))
    val scratch = Paths.get(s"target/bench/$suite")
    WholeFolder.delete(scratch)
    Files.createDirectories(scratch)
    val spark =
      BenchSession.start(arguments.data, installed = true, more = StreamingSettings.session)
    val progress = new Progress(System.err)
    try {
      val environment =
        Environment.of(arguments.command, BenchSession.firesteelVersion(spark), spark.version)
      val asked =
        parts.filter(part => arguments.cases.isEmpty || arguments.cases.contains(part.name))
      val figures = asked.flatMap(_.measure(spark, scratch, progress, arguments))
      write(arguments.out, FigureResults(environment, figures))
    } finally spark.stop()
  }

  private def write(out: Path, results: FigureResults): Unit = {
    Files.createDirectories(out)
    val page = FigurePage.of(this, results)
    Files.writeString(out.resolve(s"$suite.md"), page)
    Files.writeString(out.resolve(s"$suite.json"), FigurePage.json(this, results))
    println(page)
  }
}
