package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.json4s.{DefaultFormats, Formats}
import org.json4s.jackson.Serialization.{read, write}

/** Passes the outcome of the many keys from the small JVM to the JVM that writes the page. */
object StreamingFile {

  implicit private val formats: Formats = DefaultFormats

  def save(file: Path, outcome: ManyKeysOutcome): Unit = {
    Option(file.getParent).foreach(Files.createDirectories(_))
    Files.writeString(file, write(outcome))
    ()
  }

  /** A missing file means that the small JVM ended before it had an answer. */
  def load(file: Path): Option[ManyKeysOutcome] =
    Option.when(Files.exists(file))(read[ManyKeysOutcome](Files.readString(file)))
}
