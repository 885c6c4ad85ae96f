package io.firesteel.bench

import java.nio.file.{Files, Path, Paths}

/** Times joins of streams, and writes their page. */
object JoinsMain {

  val suite: String = "joins"

  private val scratch: Path = Paths.get("target/bench/joins")

  val names: Seq[String] = Seq(ManyJoins.name, HotKey.name, LastBatches.name)

  def run(arguments: Arguments): Unit = {
    val unknown = arguments.cases.filterNot(names.contains)
    if (unknown.nonEmpty || arguments.noise) {
      val wrong =
        if (arguments.noise) s"no --noise in $suite"
        else s"no case ${unknown.mkString(", ")}; there are ${names.mkString(", ")}"
      System.err.println(s"bench: $wrong\n${Arguments.usage}")
      sys.exit(2)
    }
    WholeFolder.delete(scratch)
    Files.createDirectories(scratch)
    val spark =
      BenchSession.start(arguments.data, installed = true, more = StreamingSettings.session)
    val progress = new Progress(System.err)
    try {
      val environment =
        Environment.of(arguments.command, BenchSession.firesteelVersion(spark), spark.version)
      val asked = names.filter(name => arguments.cases.isEmpty || arguments.cases.contains(name))
      val parts: Map[String, () => Seq[JoinFigure]] = Map(
        ManyJoins.name -> (() => new ManyJoins(spark, scratch, progress, arguments).run()),
        HotKey.name -> (() => new HotKey(spark, scratch, progress, arguments).run()),
        LastBatches.name -> (() => new LastBatches(spark, scratch, progress, arguments).run())
      )
      val figures = asked.flatMap(name => parts(name)())
      write(arguments.out, JoinsResults(environment, figures))
    } finally spark.stop()
  }

  private def write(out: Path, results: JoinsResults): Unit = {
    Files.createDirectories(out)
    val page = JoinsPage.of(results)
    Files.writeString(out.resolve(s"$suite.md"), page)
    Files.writeString(out.resolve(s"$suite.json"), JoinsPage.json(results))
    println(page)
  }
}
