package io.firesteel.bench

import java.nio.file.{Path, Paths}

import scala.annotation.tailrec

/**
 * What the command line asks for.
 *
 * @param cases names of cases; all of the room's when empty
 * @param pairs rounds that count, in each of which stock and firesteel run once
 * @param noise time stock against stock, to see how far from 1 the machine alone can lead
 * @param pythonResult where a script has left what it measured
 * @param memoryResult in memory mode where the outcome goes, otherwise where it comes from
 */
final case class Arguments(
    room: String,
    cases: Seq[String],
    pairs: Int,
    rows: Long,
    data: Path,
    out: Path,
    noise: Boolean,
    memoryCase: Boolean,
    memoryResult: Option[Path],
    pythonResult: Option[Path],
    command: String)

object Arguments {

  val usage: String =
    """usage: build/bench ROOM [options]
      |  --case NAME    only this case; may be given again
      |  --pairs N      rounds that count, 5 or more for a page worth committing (default 5)
      |  --rows N       rows of the tables (default 5000000)
      |  --data DIR     where generated tables are kept (default .data)
      |  --out DIR      where the page, the JSON and the picture go (default: scala/bench/results,
      |                 which is committed; with --case, --rows or --noise target/bench)
      |  --noise        time stock against itself: how much the machine wobbles""".stripMargin

  private val values =
    Set(
      "--room",
      "--case",
      "--pairs",
      "--rows",
      "--data",
      "--out",
      "--memory-result",
      "--python-result")
  private val flags = Set("--noise", "--memory-case")

  /** The arguments, or what is wrong with them. */
  def parse(arguments: Seq[String]): Either[String, Arguments] =
    for {
      read <- pairUp(arguments.toList, Nil)
      one = (name: String) => read.collect { case (`name`, value) => value }.lastOption
      room <- one("--room").toRight("name a room, such as: build/bench rank")
      pairs <- positive("--pairs", one("--pairs"), 5L)
      rows <- positive("--rows", one("--rows"), 5000000L)
      cases = read.collect { case ("--case", name) => name }
    } yield Arguments(
      room,
      cases,
      pairs.toInt,
      rows,
      Paths.get(one("--data").getOrElse(".data")),
      Paths.get(one("--out").getOrElse("target/bench")),
      noise = one("--noise").nonEmpty,
      memoryCase = one("--memory-case").nonEmpty,
      one("--memory-result").map(Paths.get(_)),
      one("--python-result").map(Paths.get(_)),
      command(room, read)
    )

  @tailrec
  private def pairUp(
      rest: List[String],
      done: Seq[(String, String)]): Either[String, Seq[(String, String)]] = rest match {
    case Nil => Right(done)
    case flag :: more if flags(flag) => pairUp(more, done :+ (flag -> "true"))
    case name :: value :: more if values(name) => pairUp(more, done :+ (name -> value))
    case name :: Nil if values(name) => Left(s"$name needs a value")
    case unknown :: _ =>
      Left(s"unknown option $unknown; there are ${(values ++ flags).toSeq.sorted.mkString(", ")}")
  }

  private def positive(
      name: String,
      value: Option[String],
      default: Long): Either[String, Long] = value match {
    case None => Right(default)
    case Some(text) =>
      text.toLongOption.filter(_ > 0).toRight(s"$name must be a positive number, not $text")
  }

  /** What a reader types to get the same page; where files are kept is their own business. */
  private def command(room: String, read: Seq[(String, String)]): String = {
    val unseen =
      Set("--room", "--data", "--out", "--memory-result", "--python-result", "--memory-case")
    val options = read.filterNot { case (name, _) => unseen(name) }.map {
      case (flag, _) if flags(flag) => flag
      case (name, value) => s"$name $value"
    }
    (s"build/bench $room" +: options).mkString(" ")
  }
}
