package io.firesteel.bench

import java.nio.file.{Files, Path, Paths}

import scala.util.Using

/** Times the queries of TPC-H over streams beside Apache Flink, and writes their page. */
object TpchMain {

  val suite: String = "tpch"

  /** Micro-batches in which all rows come. */
  val batches: Int = 10

  /** Files of a table that a micro-batch reads: one for each core. */
  val filesPerBatch: Int = 2

  /** Files of a table. */
  val parts: Int = batches * filesPerBatch

  private val scratch: Path = Paths.get("target/bench/tpch")

  def run(arguments: Arguments): Unit = {
    val queries = if (arguments.cases.isEmpty) TpchTables.queries else arguments.cases
    val unknown = queries.filterNot(TpchTables.queries.contains)
    if (unknown.nonEmpty || arguments.noise) {
      val wrong =
        if (arguments.noise) s"no --noise in $suite" else s"no query ${unknown.mkString(", ")}"
      System.err.println(s"bench: $wrong\n${Arguments.usage}")
      sys.exit(2)
    }
    WholeFolder.delete(scratch)
    val spark =
      BenchSession.start(arguments.data, installed = true, more = StreamingSettings.session)
    val progress = new Progress(System.err)
    val python = arguments.flink.getOrElse(sys.error("--flink names no Python that has Flink"))
    val heap = s"${Runtime.getRuntime.maxMemory >> 20}m" // as much as Spark has
    try Using.resource(new FlinkProcess(python, heap, scratch.resolveSibling("flink.log"))) {
        flink =>
          val theirs = progress.step("starting Flink")(flink.facts)
          val environment =
            Environment.of(arguments.command, BenchSession.firesteelVersion(spark), spark.version)
          val files = new TpchFiles(spark, arguments.data, arguments.scale, parts, progress)
          files.make()
          val runner = new TpchRunner(spark, flink, files, scratch, progress, arguments.pairs)
          val results = queries.map(runner.run)
          write(
            arguments.out,
            TpchResults(
              environment.copy(facts = environment.facts ++ Seq(
                "Flink" -> theirs.flink,
                "Flink's JDK, heap" -> f"${theirs.java}, ${theirs.heapBytes / math.pow(2, 30)}%.1f GiB")),
              arguments.scale,
              results
            )
          )
      }
    finally spark.stop()
  }

  private def write(out: Path, results: TpchResults): Unit = {
    Files.createDirectories(out)
    val page = TpchPage.of(results)
    Files.writeString(out.resolve(s"$suite.md"), page)
    println(page)
  }
}
