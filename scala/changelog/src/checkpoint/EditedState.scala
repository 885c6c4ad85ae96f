package io.firesteel.changelog.checkpoint

import io.firesteel.changelog.common.TextFile
import io.firesteel.changelog.store.PagedStateStoreProvider

import java.util.UUID

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata
import org.apache.spark.sql.firesteel.Checkpoints

/**
 * Gives the operators of a stopped query other numbers, which are the names of their folders, and
 * removes the state of operators that are gone.
 *
 * A journal has what is to be done. An edit that was interrupted is completed before the query starts
 * again: first all folders leave the state, then they come back by their new numbers. Each step may
 * be done twice.
 */
final private[changelog] class EditedState(session: SparkSession, location: String) {
  import EditedState._

  private val checkpoint = new Checkpoint(session, location)
  private val folder = new Path(checkpoint.root, "statements")
  private val aside = new Path(folder, "state")
  private val journal = new TextFile(checkpoint.files, new Path(folder, "edit"))
  private val halfway = new TextFile(checkpoint.files, new Path(folder, "edit-halfway"))

  /** The micro-batch after the last one that has ended. */
  def next: Long = if (!checkpoint.exists) 0L else checkpoint.commits.last.fold(0L)(_ + 1)

  /** Whether that micro-batch has begun. */
  def isPending: Boolean = checkpoint.exists && checkpoint.begun.nonEmpty

  /** Removes the state of a first micro-batch that has not ended. */
  def forget(): Unit = if (next == 0L) {
    requireStopped()
    checkpoint.files.delete(checkpoint.state)
  }

  private def requireStopped(): Unit =
    checkpoint.queryId.filter(Checkpoints.runningQueries(session)).foreach { id =>
      throw CheckpointErrors.stillRuns(checkpoint.root.toString, id.toString)
    }

  /**
   * @param moves numbers of operators before and now
   * @param gone numbers of operators that are there no more
   * @param came numbers of operators that are new, and what Spark notes of them
   * @param places for each place of a source now, one that the source had before
   * @param runs whether a micro-batch follows, also if there are no new rows
   * @param note what is returned when the edit is complete, also by [[finish]]
   */
  def apply(
      moves: Seq[(Int, Int)],
      gone: Seq[Int],
      came: Seq[(Int, OperatorStateMetadata)],
      places: Seq[Int],
      runs: Boolean,
      note: String): Unit = {
    requireStopped()
    checkpoint.begun.filter(SparksRepartition.has(checkpoint, _)).foreach { begun =>
      throw CheckpointErrors.unfinishedBySpark(checkpoint.root.toString, begun)
    }
    val changed = moves.filter(m => m._1 != m._2)
    if (changed.nonEmpty || gone.nonEmpty || came.nonEmpty) requireNumbers()
    val stores = new NewStores(checkpoint, next)
    val root = mapper.createObjectNode().put("id", UUID.randomUUID().toString).put("note", note)
      .put("runs", runs)
    val of = root.putArray("moves")
    changed.foreach { case (from, to) => of.addArray().add(from).add(to) }
    gone.foldLeft(root.putArray("gone"))(_.add(_))
    val noted = root.putArray("came")
    came.foreach { case (number, its) => noted.add(stores.noted(number, its)) }
    val entries = root.putObject("offsets")
    placed(places).foreach { case (batch, text) => entries.put(batch.toString, text) }
    journal.write(mapper.writeValueAsString(root))
    val _ = finish()
  }

  /** The log's last entries, with the sources at other places. Spark reads two at a start. */
  private def placed(places: Seq[Int]): Seq[(Long, String)] =
    for (batch <- next - 2 to next; entry <- checkpoint.offset(batch)) yield {
      val changed = entry.placed(places)
        .getOrElse(throw CheckpointErrors.notEditable("the log of offsets has another format"))
      batch -> changed.text
    }

  /** Completes a repartitioning that has begun, which finds operators by their numbers. */
  def repartitioned(): Unit = if (checkpoint.exists && journal.read().isEmpty) {
    FinishRepartition(checkpoint)
  }

  /** Completes an edit that has begun; returns its note. */
  def finish(): Option[String] = journal.read().map { text =>
    val root = mapper.readTree(text)
    val id = root.get("id").asText
    val moves = root.get("moves").elements.asScala.map(m => m.get(0).asInt -> m.get(1).asInt).toSeq
    val gone = root.get("gone").elements.asScala.map(_.asInt).toSeq
    if (!halfway.read().contains(id)) {
      new TextFile(checkpoint.files, PagedStateStoreProvider.editOf(checkpoint.root)).write(id)
      checkpoint.files.mkdirs(aside)
      moves.foreach { case (from, to) => move(inState(from), inAside(to)) }
      gone.foreach(from => move(inState(from), new Path(aside, s"gone-$from")))
      halfway.write(id)
    }
    moves.foreach { case (_, to) =>
      renumber(inAside(to), to)
      move(inAside(to), inState(to))
    }
    checkpoint.files.delete(aside)
    val offsets = root.get("offsets")
    offsets.fieldNames.asScala.foreach { batch =>
      val file = new Path(checkpoint.root, s"offsets/$batch")
      new TextFile(checkpoint.files, file).write(offsets.get(batch).asText)
    }
    // Nothing else of the query has run since the edit began.
    val stores = new NewStores(checkpoint, next)
    root.get("came").elements.asScala.foreach { noted =>
      // A first micro-batch that failed may have left a folder.
      checkpoint.files.delete(inState(NewStores.numberOf(noted)))
      stores.write(noted)
    }
    if (root.get("runs").asBoolean) stores.runNext()
    root.get("note").asText
  }

  /** The edit's note has been written to its place. */
  def end(): Unit = {
    journal.delete()
    halfway.delete()
  }

  private def inState(operator: Int) = new Path(checkpoint.state, operator.toString)
  private def inAside(operator: Int) = new Path(aside, operator.toString)

  /** Where a folder is renamed file by file, as in a store of objects, both may be there. */
  private def move(from: Path, to: Path): Unit = {
    val files = from.getFileSystem(checkpoint.hadoop)
    if (files.exists(from)) {
      if (files.exists(to) && files.getFileStatus(from).isDirectory) {
        files.listStatus(from).foreach(its => move(its.getPath, new Path(to, its.getPath.getName)))
        val _ = files.delete(from, true)
      } else {
        val _ = files.delete(to, false)
        if (!files.rename(from, to)) {
          throw new java.io.IOException(s"cannot rename $from to $to")
        }
      }
    }
  }

  /** Spark keeps an operator's number in its metadata as well. */
  private def renumber(operator: Path, number: Int): Unit = {
    val file = new TextFile(checkpoint.files, new Path(operator, "_metadata/metadata"))
    file.read().foreach { text =>
      val lines = text.linesIterator.toIndexedSeq
      val changed = mapper.readTree(lines(1)).asInstanceOf[ObjectNode]
      changed.get("operatorInfo").asInstanceOf[ObjectNode].put("operatorId", number.toLong)
      file.write(lines.updated(1, mapper.writeValueAsString(changed)).mkString("\n"))
    }
  }

  /** Sets begun before plan version 12 may have noted an aggregate of Spark's as two operators. */
  def requireOperators(noted: Int): Unit = if (next > 0) {
    val found = checkpoint.folders(checkpoint.state).size
    if (found > 0 && found < noted) throw CheckpointErrors.notEditable(
      s"it has state of $found operators, and its record names $noted")
  }

  /** Ids of versions are kept by the operators' numbers, and folders of schemas by their paths. */
  private def requireNumbers(): Unit = {
    val withIds = checkpoint.commits.last.flatMap(checkpoint.commit).exists(_.hasIds)
    val withPaths = checkpoint.folders(checkpoint.state).exists { operator =>
      checkpoint.files.exists(new Path(checkpoint.state, s"$operator/_stateSchema"))
    }
    if (withIds || withPaths)
      throw CheckpointErrors.notEditable("the state has version ids or schemas of its own")
  }
}

private[checkpoint] object EditedState {

  /** Whether an edit has begun and not ended. */
  def isIn(checkpoint: Checkpoint): Boolean =
    checkpoint.files.exists(new Path(checkpoint.root, "statements/edit"))

  private val mapper = new ObjectMapper
}
