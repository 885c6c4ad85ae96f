package io.firesteel.changelog.plan.share

import io.firesteel.changelog.common.TextFile

import java.io.{DataInputStream, DataOutputStream}

import scala.util.Using

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.{SparkContext, TaskContext}
import org.apache.spark.internal.Logging
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.SerializableConfiguration

/**
 * The rows of a part whose values may differ each time they are computed, in files of the checkpoint.
 * They are written before anything reads them, and a micro-batch that is repeated reads them instead
 * of computing others: all targets then have the same values, whatever failed.
 *
 * @param root the folder of all parts; it has a folder for each micro-batch, with one for each part
 * @param part the key of what the part computes
 */
final private[share] class DurableRows(
    root: String,
    batch: Long,
    part: String,
    schema: StructType,
    conf: Configuration)
  extends Logging {
  import DurableRows._

  private val files = new Path(root).getFileSystem(conf)
  private val folder = new Path(new Path(root, batch.toString), part)

  // It is written last, with the number of the other files.
  private val told = {
    val path = new Path(folder, "_complete")
    new TextFile(CheckpointFileManager.create(path, conf), path)
  }

  /**
   * The blocks of a part in a micro-batch, if all of them had been written. If a query reads other
   * columns since, they are computed again.
   */
  def read(context: SparkContext): Option[RDD[Array[Byte]]] = for {
    text <- told.read()
    written = mapper.readValue(text, classOf[Array[String]])
    isSame = written.tail.sameElements(Seq(schema.json))
    _ = if (!isSame) logWarning(otherColumns(batch))
    if isSame
  } yield {
    val (tasks, name) = (written.head.toInt, folder.toString)
    val serialized = new SerializableConfiguration(conf)
    context.parallelize(0 until tasks, math.max(tasks, 1)).flatMap { task =>
      blocks(new Path(name, task.toString), serialized.value)
    }
  }

  /** Writes the blocks of a part, and removes what earlier micro-batches have left. */
  def write(rows: RDD[Array[Byte]]): Unit = {
    clean()
    files.delete(folder, true)
    files.mkdirs(folder)
    val name = folder.toString
    val serialized = new SerializableConfiguration(conf)
    rows.foreachPartition { its => save(its, new Path(name), serialized.value) }
    told.write(mapper.writeValueAsString(Array(rows.getNumPartitions.toString, schema.json)))
  }

  /** Spark begins a micro-batch when the one before has been committed. */
  private def clean(): Unit =
    if (files.exists(new Path(root))) {
      files.listStatus(new Path(root)).map(_.getPath)
        .filter(_.getName.toLongOption.exists(_ < batch)).foreach(files.delete(_, true))
    }
}

private object DurableRows {

  private val mapper = new ObjectMapper()

  private def otherColumns(batch: Long): String =
    s"The statements read other columns of a shared part than before in micro-batch $batch, which is " +
      "repeated. Values such as those of uuid() are computed again: targets that have the " +
      "micro-batch already have others."

  /** A task may run twice: each attempt writes a file of its own, and the last to end renames it. */
  private def save(its: Iterator[Array[Byte]], folder: Path, conf: Configuration): Unit = {
    val task = TaskContext.get()
    val files = folder.getFileSystem(conf)
    val (own, whole) = (
      new Path(folder, s".${task.partitionId()}-${task.taskAttemptId()}"),
      new Path(folder, task.partitionId().toString))
    Using.resource(new DataOutputStream(files.create(own, true))) { out =>
      its.foreach { block =>
        out.writeInt(block.length)
        out.write(block)
      }
    }
    if (!files.rename(own, whole)) {
      // Another attempt was first, with the same rows: they are kept, and not computed again.
      files.delete(own, false)
      require(files.exists(whole), s"cannot write $whole")
    }
  }

  private def blocks(file: Path, conf: Configuration): Iterator[Array[Byte]] = {
    val files: FileSystem = file.getFileSystem(conf)
    val bytes = files.getFileStatus(file).getLen
    val in = new DataInputStream(files.open(file))
    Option(TaskContext.get()).foreach(_.addTaskCompletionListener[Unit](_ => in.close()))
    new Iterator[Array[Byte]] {
      private var at = 0L
      override def hasNext: Boolean = at < bytes
      override def next(): Array[Byte] = {
        val block = new Array[Byte](in.readInt())
        in.readFully(block)
        at += 4 + block.length
        block
      }
    }
  }
}
