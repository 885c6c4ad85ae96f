package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.json4s.{DefaultFormats, Formats}
import org.json4s.jackson.JsonMethods.parse

/** What `build/bench_lookup.py` measured, read from the file that it has written. */
object PythonRuns {

  private implicit val formats: Formats = DefaultFormats

  /** Seconds of each run by contestant; the script has compared the answers. */
  def load(file: Path): Rounds = {
    val read = parse(Files.readString(file)).extract[Map[String, Seq[Double]]]
    Rounds(read.map { case (name, seconds) => name -> seconds.map(Run(_, Nil)) })
  }
}
