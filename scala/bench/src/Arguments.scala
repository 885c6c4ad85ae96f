package io.firesteel.bench

import java.nio.file.{Path, Paths}

/**
 * The command line.
 *
 * @param cases names of cases; empty means all of the room
 * @param pairs rounds that count, in each of which stock and firesteel run once
 * @param format of the files that Flink reads too
 * @param scale of TPC-H
 * @param noise time stock against stock, to see how far from 1 the machine alone can lead
 * @param pythonResult the file with a script's measurements
 * @param flink the Python interpreter that has Flink
 * @param memoryResult the file of the outcome: written in memory mode, read otherwise
 */
final case class Arguments(
    room: String,
    cases: Seq[String],
    pairs: Int,
    rows: Long,
    data: Path,
    out: Path,
    format: String,
    scale: Double,
    noise: Boolean,
    memoryCase: Boolean,
    memoryResult: Option[Path],
    pythonResult: Option[Path],
    flink: Option[Path],
    command: String) {

  /** Ends the program if the suite has no case of an asked name; `--noise` is of rooms. */
  def requireCases(suite: String, names: Seq[String]): Unit = {
    val unknown = cases.filterNot(names.contains)
    if (unknown.nonEmpty || noise) {
      val wrong =
        if (noise) s"no --noise in $suite"
        else s"no case ${unknown.mkString(", ")}; there are ${names.mkString(", ")}"
      System.err.println(s"bench: $wrong\n${Arguments.usage}")
      sys.exit(2)
    }
  }
}

object Arguments {

  val usage: String =
    """usage: build/bench ROOM [options]
      |  --case NAME    only this case; may be given again
      |  --pairs N      rounds that count, 5 or more for a page worth committing (default 5)
      |  --rows N       rows of the tables (default 5000000); nexmark: events (default 4000000)
      |  --data DIR     where generated tables are kept (default .data)
      |  --out DIR      where the page, the JSON and the picture go (default: scala/bench/results,
      |                 which is committed; with --case, --rows or --noise target/bench)
      |  --noise        time stock against itself: how much the machine wobbles
      |  --format NAME  streaming: csv, parquet or json, which both engines read (default csv)
      |  --scale N      tpch: the scale of its tables (default 1)""".stripMargin

  private val values =
    Set(
      "--room",
      "--case",
      "--pairs",
      "--rows",
      "--data",
      "--out",
      "--format",
      "--scale",
      "--memory-result",
      "--python-result",
      "--flink")
  private val flags = Set("--noise", "--memory-case")

  /** Options that a page does not repeat, because they name local files. */
  private val unseen =
    Set(
      "--room",
      "--data",
      "--out",
      "--memory-result",
      "--python-result",
      "--flink",
      "--memory-case")

  /** The arguments, or the error in them. */
  def parse(arguments: Seq[String]): Either[String, Arguments] =
    for {
      read <- Options.parse(arguments, values, flags)
      room <- read.one("--room").toRight("name a room, such as: build/bench rank")
      pairs <- read.positive("--pairs", 5L)
      rows <- read.positive("--rows", if (room == NexmarkMain.suite) 4000000L else 5000000L)
      scale <- read.one("--scale").getOrElse("1").toDoubleOption.filter(_ > 0)
        .toRight("--scale must be a number above 0")
    } yield Arguments(
      room,
      read.all("--case"),
      pairs.toInt,
      rows,
      Paths.get(read.one("--data").getOrElse(".data")),
      Paths.get(read.one("--out").getOrElse("target/bench")),
      read.one("--format").getOrElse("csv"),
      scale,
      noise = read.has("--noise"),
      memoryCase = read.has("--memory-case"),
      read.one("--memory-result").map(Paths.get(_)),
      read.one("--python-result").map(Paths.get(_)),
      read.one("--flink").map(Paths.get(_)),
      read.command(s"build/bench $room", unseen)
    )
}
