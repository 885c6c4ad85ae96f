package io.firesteel.changelog.state

import io.firesteel.changelog.common.TextFile

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
  private val file = new TextFile(CheckpointFileManager.create(path.getParent, conf), path)

  def read(): Option[String] = file.read()

  def write(record: OperatorRecord): Unit = file.write(record.json)
}
