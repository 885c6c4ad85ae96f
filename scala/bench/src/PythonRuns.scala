package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.json4s.{DefaultFormats, Formats}
import org.json4s.jackson.JsonMethods.parse

/** The measurements of `build/bench_lookup.py`, from the file that it wrote. */
object PythonRuns {

  private implicit val formats: Formats = DefaultFormats

  /** Seconds of each run by contestant. The script has compared the answers. */
  def load(file: Path): Rounds = {
    val read = parse(Files.readString(file)).extract[Map[String, Seq[Double]]]
    Rounds(read.map { case (name, seconds) => name -> seconds.map(Run(_, Nil)) })
  }
}
