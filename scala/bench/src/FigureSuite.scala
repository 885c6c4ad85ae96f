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
    measure: (SparkSession, Path, Progress, Arguments) => Seq[JoinFigure])

/** Times streams against each other without Flink, and writes their page. */
abstract class FigureSuite(val suite: String, val title: String) {

  def parts: Seq[FigurePart]

  final def run(arguments: Arguments): Unit = {
    val unknown = arguments.cases.filterNot(parts.map(_.name).contains)
    if (unknown.nonEmpty || arguments.noise) {
      val wrong =
        if (arguments.noise) s"no --noise in $suite"
        else s"no case ${unknown.mkString(", ")}; there are ${parts.map(_.name).mkString(", ")}"
      System.err.println(s"bench: $wrong\n${Arguments.usage}")
      sys.exit(2)
    }
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
      write(arguments.out, JoinsResults(environment, figures))
    } finally spark.stop()
  }

  private def write(out: Path, results: JoinsResults): Unit = {
    Files.createDirectories(out)
    val page = FigurePage.of(this, results)
    Files.writeString(out.resolve(s"$suite.md"), page)
    Files.writeString(out.resolve(s"$suite.json"), FigurePage.json(this, results))
    println(page)
  }
}
