package io.firesteel.lookup.files

import java.net.URI
import java.util.concurrent.ConcurrentLinkedQueue

import scala.jdk.CollectionConverters._

import org.apache.hadoop.fs.{FSDataInputStream, Path, RawLocalFileSystem}

/** The local file system with the scheme `counted`, which records the opened data files. */
class CountedFileSystem extends RawLocalFileSystem {

  override def getUri: URI = URI.create("counted:///")

  override def getScheme: String = "counted"

  override def open(path: Path, bufferSize: Int): FSDataInputStream = {
    val _ = CountedFileSystem.names.add(path.getName)
    super.open(path, bufferSize)
  }
}

object CountedFileSystem {
  private val names = new ConcurrentLinkedQueue[String]

  /** Names of the files that `body` opens, each once. */
  def opened(body: => Any): Set[String] = {
    names.clear()
    val _ = body
    names.asScala.filter(_.endsWith(".parquet")).toSet
  }
}
