package io.firesteel.changelog.common

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager

/**
 * A text in a checkpoint. Writing is atomic: readers see the whole file, or the one before.
 *
 * On a local disk Hadoop replaces a file by deleting it first. So a text that replaces another one
 * lies beside it until it has its place.
 */
final private[changelog] class TextFile(files: CheckpointFileManager, path: Path) {

  private val next = path.suffix(".next")

  /** None if there is no such file. */
  def read(): Option[String] =
    Seq(path, next).find(files.exists)
      .map(its => Using.resource(files.open(its))(in => new String(in.readAllBytes(), UTF_8)))

  /** Its folder need not exist. */
  def write(text: String): Unit = {
    files.mkdirs(path.getParent)
    val replaces = files.isLocal && files.exists(path)
    if (replaces) written(next, text)
    written(path, text)
    if (replaces) files.delete(next)
  }

  /** Ends a replacement that a killed program has left, for readers that know the place alone. */
  def settle(): Unit = if (!files.exists(path)) read().foreach(write)

  def delete(): Unit = {
    // In this order: what is left is the newer text.
    files.delete(next)
    files.delete(path)
  }

  private def written(file: Path, text: String): Unit = {
    val out = files.createAtomic(file, overwriteIfPossible = true)
    try {
      out.write(text.getBytes(UTF_8))
      out.close()
    } catch {
      case failed: Throwable =>
        out.cancel()
        throw failed
    }
  }
}
