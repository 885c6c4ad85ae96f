package io.firesteel.changelog.checkpoint

import scala.util.Using

import org.apache.hadoop.fs.Path
import org.apache.spark.Partitioner
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager
import org.apache.spark.util.SerializableConfiguration

/**
 * New state in a folder of its own below the checkpoint, which no query reads, until it is
 * complete.
 *
 * Its files have the folders and names that they need in the state's folder. They are copied, not
 * moved: an interrupted copy can start again from the beginning.
 */
final private[checkpoint] class StagedState(checkpoint: Checkpoint, name: String) {
  import StagedState._

  private val folder = new Path(checkpoint.root, name)
  private val spark = checkpoint.session.sparkContext

  /**
   * Writes a store with another number of partitions; returns the version id of each, if they have
   * ids.
   *
   * @param ids version ids of the current partitions, if they have ids
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

  /** Copies the files to where the query reads them. */
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

  /** Most tasks that copy files. */
  private val most = 200

  def nameFor(batch: Long): String = s"$prefix$batch-${java.util.UUID.randomUUID()}"

  /** Removes staged state that is not needed after a micro-batch has finished. */
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

  /** The key is the number of the partition. */
  final private class ByNumber(override val numPartitions: Int) extends Partitioner {
    override def getPartition(key: Any): Int = key match {
      case number: Int => number
      case other => throw new IllegalStateException(s"no partition: $other")
    }
  }
}
