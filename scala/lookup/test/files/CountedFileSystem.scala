package io.firesteel.lookup.files

import java.net.URI
import java.nio.channels.ClosedByInterruptException
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FSDataInputStream, Path, RawLocalFileSystem}

/** The local file system with the scheme `counted`, which records the opened data files. */
class CountedFileSystem extends RawLocalFileSystem {

  override def getUri: URI = URI.create("counted:///")

  override def getScheme: String = "counted"

  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    val _ = CountedFileSystem.names.add(path.getName)
    if (CountedFileSystem.isCut && path.getName.endsWith(".parquet"))
      throw new ClosedByInterruptException
    super.open(path, bufferSize)
  }
}

object CountedFileSystem {
  private val names = new ConcurrentLinkedQueue[String]
  @volatile private var isCut = false

  /** Data files that `body` opens fail, as if its thread were interrupted. */
  def cut[T](body: => T): T = {
    isCut = true
    try body
    finally isCut = false
  }

  /** Names of the files that `body` opens, each once. */
  def opened(body: => Any): Set[String] = {
    names.clear()
    val _ = body
    names.asScala.filter(_.endsWith(".parquet")).toSet
  }
}
