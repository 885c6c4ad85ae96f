package io.firesteel.bench

import java.nio.file.{Files, Path}

import io.firesteel.extension.Rooms
import org.apache.spark.sql.SparkSession

/** Times a room's cases with and without firesteel and writes the page. Called by `build/bench`. */
object Main {

  /** The rooms that are timed against stock Spark. The object of `rank` is `RankBenchmark`. */
  private val rooms: Seq[Room] = Rooms.names
    .map(room => s"io.firesteel.bench.${room.capitalize}Benchmark$$")
    .filter(name => getClass.getResource(s"/${name.replace('.', '/')}.class") != null)
    .map(name => Class.forName(name).getField("MODULE$").get(null))
    .collect { case room: Room => room }

  /** Queries beside Flink. */
  private val suites: Seq[SuiteMain] = Seq(TpchMain, NexmarkMain, OverMain)

  /** Streams beside Spark's own joins, batch queries, and the same streams with other settings. */
  private val figures: Seq[FigureSuite] =
    Seq(JoinsMain, NeighboursMain, WindowsMain, StatementsMain, StateMain, DebeziumMain)

  def main(arguments: Array[String]): Unit =
    if (arguments.containsSlice(Seq("--room", TpcdsMain.suite))) TpcdsMain.run(arguments.toSeq)
    else Arguments.parse(arguments.toSeq) match {
      // Its queries differ in text on both sides, and need servers and a cluster.
      case Right(read) if read.room == LookupMain.room => LookupMain.run(read)
      // Flink runs the same queries.
      case Right(read) if read.room == StreamingMain.suite => StreamingMain.run(read)
      case Right(read) if suites.exists(_.suite == read.room) =>
        suites.find(_.suite == read.room).foreach(_.run(read))
      case Right(read) if figures.exists(_.suite == read.room) =>
        figures.find(_.suite == read.room).foreach(_.run(read))
      case parsed => againstStock(parsed)
    }

  private def againstStock(parsed: Either[String, Arguments]): Unit = {
    val asked = for {
      read <- parsed
      room <- roomOf(read)
      cases <- casesOf(read, room)
    } yield (read, room, cases)
    asked match {
      case Left(wrong) =>
        System.err.println(s"bench: $wrong\n${Arguments.usage}")
        sys.exit(2)
      case Right((read, room, cases)) =>
        val spark = BenchSession.start(read.data, installed = !read.noise)
        try {
          if (read.memoryCase) answerMemory(spark, read, room)
          else measure(spark, read, room, cases)
        } finally spark.stop()
    }
  }

  private def roomOf(arguments: Arguments): Either[String, Room] =
    rooms
      .find(_.name == arguments.room)
      .toRight(
        s"no room ${arguments.room}; there are " +
          (rooms.map(_.name) ++ suites.map(_.suite) ++ figures.map(_.suite) ++ Seq(
            LookupMain.room,
            TpcdsMain.suite,
            StreamingMain.suite)).mkString(", "))

  private def casesOf(arguments: Arguments, room: Room): Either[String, Seq[Case]] = {
    val all = room.cases(arguments.rows)
    val unknown = arguments.cases.filterNot(name => all.exists(_.name == name))
    if (unknown.nonEmpty) {
      Left(s"no case ${unknown.mkString(", ")}; there are ${all.map(_.name).mkString(", ")}")
    } else if (arguments.cases.isEmpty) Right(all)
    else Right(all.filter(one => arguments.cases.contains(one.name)))
  }

  private def measure(
      spark: SparkSession,
      arguments: Arguments,
      room: Room,
      cases: Seq[Case]): Unit = {
    val version = if (arguments.noise) "not installed" else BenchSession.firesteelVersion(spark)
    val progress = new Progress(System.err)
    val runner = new CaseRunner(
      spark,
      new DataFolder(arguments.data, progress),
      new TaskLog(spark.sparkContext),
      progress,
      arguments.pairs,
      firesteelOn = !arguments.noise)
    val results = Results(
      room,
      Environment.of(arguments.command, version, spark.version),
      cases.zipWithIndex.map { case (question, i) =>
        progress.line(s"case ${i + 1} of ${cases.size}: ${question.title}")
        runner.run(question)
      },
      arguments.memoryResult.fold[Memory](Memory.NotRun)(MemoryFile.load),
      arguments.noise
    )
    write(arguments.out, results)
  }

  private def answerMemory(spark: SparkSession, arguments: Arguments, room: Room): Unit = {
    val progress = new Progress(System.err)
    val runner = new MemoryRunner(spark, new DataFolder(arguments.data, progress), progress)
    val outcomes = room.memory.toSeq.flatMap(runner.run)
    arguments.memoryResult.foreach(MemoryFile.save(_, outcomes))
  }

  private def write(out: Path, results: Results): Unit = {
    Files.createDirectories(out)
    val page = MarkdownPage.of(results)
    Files.writeString(out.resolve(s"${results.fileName}.md"), page)
    Files.writeString(out.resolve(s"${results.fileName}.json"), JsonPage.of(results))
    println(page)
  }
}
