package io.firesteel.changelog.common

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager

/** A text in a checkpoint. Writing is atomic: readers see the whole file, or the one before. */
final private[changelog] class TextFile(files: CheckpointFileManager, path: Path) {

  /** None if there is no such file. */
  def read(): Option[String] =
    if (!files.exists(path)) None
    else Some(Using.resource(files.open(path))(in => new String(in.readAllBytes(), UTF_8)))

  /** Its folder need not exist. */
  def write(text: String): Unit = {
    files.mkdirs(path.getParent)
    val out = files.createAtomic(path, overwriteIfPossible = true)
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
