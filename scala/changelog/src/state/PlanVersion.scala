package io.firesteel.changelog.state

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager

/**
 * How queries are read as operators. A checkpoint has the operators that its first micro-batch had,
 * so it keeps the version that it began with. The record of each operator has it.
 */
private[changelog] object PlanVersion {

  /** Conditions that all parts of an `OR` share may be keys of a join. */
  val commonConditions: Int = 2

  val current: Int = commonConditions

  /** The version of records without one, and of checkpoints without records. */
  val first: Int = 1

  /** The version of a checkpoint, which may be new. */
  def of(checkpoint: String, conf: Configuration): Int = {
    val files = CheckpointFileManager.create(new Path(checkpoint), conf)
    def names(folder: String) = {
      val path = new Path(checkpoint, folder)
      if (!files.exists(path)) Nil else files.list(path).toSeq.map(_.getPath.getName)
    }
    val states = new Path(checkpoint, "state").toString
    val records = names("state").flatMap(_.toLongOption)
      .flatMap(new RecordFile(states, _, conf).read())
      // A record of a later version is an error of its operator.
      .flatMap(OperatorRecord.read(_).toOption)
    records.map(_.plan).maxOption
      .getOrElse(if (names("commits").exists(_.toLongOption.nonEmpty)) first else current)
  }
}
