package io.firesteel.changelog.state

import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager

/**
 * The file of an [[OperatorRecord]] in a checkpoint.
 *
 * @param states the `state` folder of the checkpoint
 */
final private[changelog] class RecordFile(states: String, operatorId: Long, conf: Configuration) {

  private val path = new Path(new Path(states, operatorId.toString), "_metadata/firesteel")
  private val files = CheckpointFileManager.create(path.getParent, conf)

  def read(): Option[String] =
    if (!files.exists(path)) None
    else Some(Using.resource(files.open(path))(in => new String(in.readAllBytes(), UTF_8)))

  /** Atomic: readers see the whole file or none. */
  def write(record: OperatorRecord): Unit = {
    files.mkdirs(path.getParent)
    val out = files.createAtomic(path, overwriteIfPossible = true)
    try {
      out.write(record.json.getBytes(UTF_8))
      out.close()
    } catch {
      case failed: Throwable =>
        out.cancel()
        throw failed
    }
  }
}
