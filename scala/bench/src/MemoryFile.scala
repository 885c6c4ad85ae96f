package io.firesteel.bench

import java.nio.file.{Files, Path}

import org.json4s.{DefaultFormats, Formats}
import org.json4s.jackson.Serialization.{read, write}

/** Passes the outcome of the memory case from the small JVM to the JVM that writes the page. */
object MemoryFile {

  implicit private val formats: Formats = DefaultFormats

  def save(file: Path, outcomes: Seq[MemoryOutcome]): Unit = {
    Option(file.getParent).foreach(Files.createDirectories(_))
    Files.writeString(file, write(outcomes))
    ()
  }

  /** A missing file means that the small JVM ended before it wrote one. */
  def load(file: Path): Memory =
    if (Files.exists(file)) Memory.Completed(read[List[MemoryOutcome]](Files.readString(file)))
    else Memory.DidNotComplete
}
