package io.firesteel.changelog.state

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager

/** The [[PlanVersion]] with which a checkpoint began, before its query is read as operators. */
private[changelog] object BegunPlan {

  /** The version of a checkpoint, which may be new. */
  def versionOf(checkpoint: String, conf: Configuration): Int = {
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
    def hasCommits = names("commits").exists(_.toLongOption.nonEmpty)
    records.map(_.plan).maxOption
      .getOrElse(if (hasCommits) PlanVersion.first else PlanVersion.current)
  }
}
