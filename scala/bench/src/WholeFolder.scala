package io.firesteel.bench

import java.nio.file.{Files, Path, StandardCopyOption}
import java.util.Comparator

import scala.util.Using

/** Makes a folder that is complete whenever it exists: it is written under another name first. */
object WholeFolder {

  def make(folder: Path)(write: Path => Unit): Unit = {
    val part = folder.resolveSibling(s".${folder.getFileName}.part")
    delete(part)
    Files.createDirectories(folder.getParent)
    write(part)
    Files.move(part, folder, StandardCopyOption.ATOMIC_MOVE)
    ()
  }

  def delete(folder: Path): Unit =
    if (Files.exists(folder)) {
      Using.resource(Files.walk(folder)) { paths =>
        paths.sorted(Comparator.reverseOrder[Path]()).forEach(path => Files.delete(path))
      }
    }
}
