package io.firesteel.changelog.statements

import io.firesteel.changelog.common.{ChangelogErrors, TextFile}

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager

/** What a checkpoint has of its statement set: the statements, and which have written a micro-batch. */
final class StatementFiles(checkpoint: String, conf: Configuration) {
  import StatementFiles._

  private val folder = new Path(checkpoint, "statements")
  private val files = CheckpointFileManager.create(new Path(checkpoint), conf)

  /** What the checkpoint has of its statement set; none if it is new. */
  private[changelog] def record(): Option[SetRecord] = {
    if (!hasBegun) None
    else {
      val text = file("set").read().getOrElse(throw ChangelogErrors.noStatementSet(checkpoint))
      Some(SetRecord.read(text))
    }
  }

  private[changelog] def record(its: SetRecord): Unit = file("set").write(its.json)

  private def hasBegun: Boolean = {
    val offsets = new Path(checkpoint, "offsets")
    files.exists(offsets) && files.list(offsets).exists(_.getPath.getName.toLongOption.nonEmpty)
  }

  /** The statements that have written a micro-batch. */
  def written(batch: Long): Seq[String] = read("written") match {
    case Some(of +: names) if of == batch.toString => names
    case _ => Nil
  }

  /** Notes that a statement has written a micro-batch. */
  def note(batch: Long, name: String): Unit = lock.synchronized {
    write("written", (batch.toString +: written(batch)) :+ name)
  }

  /** Notes that targets get the rows of the first micro-batch. */
  private[statements] def noteFirst(): Unit = write("first", Nil)

  /** Removes the note of a first micro-batch whose offsets were removed by hand. */
  private[changelog] def forgetFirst(): Unit = files.delete(new Path(folder, "first"))

  /**
   * Whether a target may have rows of the first micro-batch. A statement's function may have written
   * to one target before it failed at another, and over Spark Connect no statement is noted.
   */
  private[changelog] def mayHaveFirst: Boolean =
    read("first").nonEmpty || written(0L).nonEmpty

  private def read(name: String): Option[Seq[String]] =
    file(name).read().map(json.readValue(_, classOf[Array[String]]).toSeq)

  private def write(name: String, texts: Seq[String]): Unit =
    file(name).write(json.writeValueAsString(texts.asJava))

  private def file(name: String) = new TextFile(files, new Path(folder, name))
}

private object StatementFiles {
  private val json = new ObjectMapper()

  // Statements may end side by side.
  private val lock = new Object
}
