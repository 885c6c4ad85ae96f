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
 * @param place the folder of all parts; it has a folder for each micro-batch, with one for each part
 */
final private[share] class DurableRows(
    place: SharedPart.Durable,
    batch: Long,
    schema: StructType,
    conf: Configuration)
  extends Logging {
  import DurableRows._

  private val root = new Path(place.root)
  private val files = root.getFileSystem(conf)
  private val folder = new Path(new Path(root, batch.toString), place.part)

  // It is written last, with the number of the other files.
  private val told = {
    val path = new Path(folder, "_complete")
    new TextFile(CheckpointFileManager.create(path, conf), path)
  }

  /**
   * The blocks of a part in a micro-batch, if all of them had been written. If a query reads other
   * columns since, or a statement's query is another, they are computed again.
   */
  def read(context: SparkContext): Option[RDD[Array[Byte]]] = for {
    text <- told.read()
    written = mapper.readValue(text, classOf[Array[String]])
    // Rows of earlier versions do not tell of what they are.
    isSame = written(1) == schema.json && written.lift(2).forall(_ == place.computes)
    _ = if (!isSame) logWarning(otherRows(batch))
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
    val its = Seq(rows.getNumPartitions.toString, schema.json) ++
      Seq(place.computes).filter(_.nonEmpty)
    told.write(mapper.writeValueAsString(its.toArray))
  }

  /** Spark begins a micro-batch when the one before has been committed. */
  private def clean(): Unit =
    if (files.exists(root)) {
      files.listStatus(root).map(_.getPath)
        .filter(_.getName.toLongOption.exists(_ < batch)).foreach(files.delete(_, true))
    }
}

private object DurableRows {

  private val mapper = new ObjectMapper()

  private def otherRows(batch: Long): String =
    s"The statements compute other rows or columns than before in micro-batch $batch, which is " +
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
