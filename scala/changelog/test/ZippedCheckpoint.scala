package io.firesteel.changelog

import java.nio.file.{Files, Path}
import java.util.zip.{ZipEntry, ZipFile, ZipOutputStream}

import scala.jdk.CollectionConverters._

/** Checkpoints as files. */
object ZippedCheckpoint {

  /** Keeps a checkpoint as a resource, without checksums of Hadoop's. */
  def write(from: Path, to: Path): Unit = {
    Files.createDirectories(to.getParent)
    val out = new ZipOutputStream(Files.newOutputStream(to))
    try Files.walk(from).iterator.asScala.filter(Files.isRegularFile(_)).toSeq.sorted
        .filterNot(_.getFileName.toString.endsWith(".crc"))
        .foreach { file =>
          out.putNextEntry(new ZipEntry(from.relativize(file).toString))
          Files.copy(file, out)
          out.closeEntry()
        }
    finally out.close()
  }

  /** A resource as a checkpoint that a query may go on with. */
  def read(from: Path): Path = {
    val to = Files.createTempDirectory("firesteel-checkpoint")
    val zip = new ZipFile(from.toFile)
    try zip.entries.asScala.foreach { entry =>
        val file = to.resolve(entry.getName)
        Files.createDirectories(file.getParent)
        val in = zip.getInputStream(entry)
        try Files.copy(in, file)
        finally in.close()
      }
    finally zip.close()
    to
  }
}
