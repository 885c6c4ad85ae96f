package io.firesteel.changelog.checkpoint

import scala.util.Using

import org.apache.hadoop.fs.Path
import org.apache.spark.Partitioner
import org.apache.spark.sql.execution.streaming.checkpointing.CheckpointFileManager
import org.apache.spark.util.SerializableConfiguration

/**
 * New state in a folder of its own below the checkpoint, where no query looks, until it is whole.
 *
 * Its files are those that the state's folder is to get, in the same folders. They are copied, not
 * moved: what has come to the middle of it can be done again from the beginning.
 */
final private[checkpoint] class StagedState(checkpoint: Checkpoint, name: String) {
  import StagedState._

  private val folder = new Path(checkpoint.root, name)
  private val spark = checkpoint.session.sparkContext

  /**
   * Splits what a store has in another number of partitions; the id of each, if they have any.
   *
   * @param ids of the partitions as they are, if they have any
   */
  def split(
      stored: StoredState,
      version: Long,
      ids: Option[Seq[String]],
      before: Int,
      after: Int): Seq[Option[String]] = {
    val below = folder.toString
    val (has, gets) = if (stored.homes.isOne) (1, 1) else (before, after)
    spark
      .parallelize(0 until has, has)
      .flatMap(p => stored.read(p, version, ids.map(_(p)), has, gets))
      .partitionBy(new ByNumber(gets))
      .mapPartitionsWithIndex { (p, entries) =>
        Iterator(p -> stored.write(below, p, version + 1, entries.map(_._2)))
      }
      .collect()
      .sortBy(_._1)
      .map(_._2)
      .toSeq
  }

  /** Brings the files to where the query looks for them. */
  def place(): Unit = {
    val files = checkpoint.filesBelow(folder).map { file =>
      val inside = folder.toUri.relativize(file.toUri).getPath
      file.toString -> new Path(checkpoint.state, inside).toString
    }
    val hadoop = spark.broadcast(new SerializableConfiguration(checkpoint.hadoop))
    if (files.nonEmpty) {
      spark.parallelize(files, math.min(files.size, most)).foreach { case (from, to) =>
        copy(new Path(from), new Path(to), hadoop.value)
      }
    }
    hadoop.destroy()
  }

  def remove(): Unit = checkpoint.files.delete(folder)
}

private[checkpoint] object StagedState {

  private val prefix = "firesteel-repartition-"

  /** Into how many tasks the files are split at most. */
  private val most = 200

  def nameFor(batch: Long): String = s"$prefix$batch-${java.util.UUID.randomUUID()}"

  /** Removes what no one can need any more once a micro-batch has ended. */
  def removeUpTo(checkpoint: Checkpoint, batch: Long): Unit =
    checkpoint.folders(checkpoint.root).filter { name =>
      name.startsWith(prefix) &&
      name.stripPrefix(prefix).takeWhile(_.isDigit).toLongOption.exists(_ <= batch)
    }.foreach(name => new StagedState(checkpoint, name).remove())

  private def copy(from: Path, to: Path, hadoop: SerializableConfiguration): Unit = {
    val files = CheckpointFileManager.create(to.getParent, hadoop.value)
    files.mkdirs(to.getParent)
    Using.resource(files.open(from))(StoredState.copy(_, files, to))
  }

  /** The partition is the key. */
  final private class ByNumber(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key match {
      case number: Int => number
      case other => throw new IllegalStateException(s"no partition: $other")
    }
  }
}
