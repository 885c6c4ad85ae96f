package io.firesteel.bench

import scala.annotation.tailrec

/** A parsed command line: options and their values in order, `true` for a flag. */
final case class Options(pairs: Seq[(String, String)], flags: Set[String]) {

  def one(name: String): Option[String] = all(name).lastOption

  def all(name: String): Seq[String] = pairs.collect { case (`name`, value) => value }

  def has(flag: String): Boolean = one(flag).nonEmpty

  def positive(name: String, default: Long): Either[String, Long] = one(name) match {
    case None => Right(default)
    case Some(text) =>
      text.toLongOption.filter(_ > 0).toRight(s"$name must be a positive number, not $text")
  }

  /** The command that repeats this run, without options about local files. */
  def command(program: String, unseen: Set[String]): String = {
    val options = pairs.filterNot { case (name, _) => unseen(name) }.map {
      case (flag, _) if flags(flag) => flag
      case (name, value) => s"$name $value"
    }
    (program +: options).mkString(" ")
  }
}

object Options {

  /** The options, or the error in them. */
  def parse(
      arguments: Seq[String],
      values: Set[String],
      flags: Set[String]): Either[String, Options] = {
    @tailrec
    def read(
        rest: List[String],
        done: Seq[(String, String)]): Either[String, Seq[(String, String)]] = rest match {
      case Nil => Right(done)
      case flag :: more if flags(flag) => read(more, done :+ (flag -> "true"))
      case name :: value :: more if values(name) => read(more, done :+ (name -> value))
      case name :: Nil if values(name) => Left(s"$name needs a value")
      case unknown :: _ =>
        val known = (values ++ flags).toSeq.sorted.mkString(", ")
        Left(s"unknown option $unknown; there are $known")
    }
    read(arguments.toList, Nil).map(Options(_, flags))
  }
}
