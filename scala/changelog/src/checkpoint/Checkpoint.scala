package io.firesteel.changelog.checkpoint

import io.firesteel.changelog.common.TextFile

import java.util.UUID

import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.execution.streaming.state.{OperatorStateMetadata, OperatorStateMetadataV1}
import org.apache.spark.sql.firesteel.{Checkpoints, Files}
import org.apache.spark.sql.firesteel.streaming.CheckpointFileManager

/** The checkpoint of a streaming query, in Spark's layout. */
final private[checkpoint] class Checkpoint(val session: SparkSession, location: String) {
  import Checkpoint._

  val hadoop: Configuration = Files.hadoopConf(session, Map.empty)

  val root: Path = {
    val path = new Path(location)
    val fs = path.getFileSystem(hadoop)
    path.makeQualified(fs.getUri, fs.getWorkingDirectory)
  }

  val state: Path = new Path(root, "state")

  lazy val files: CheckpointFileManager = CheckpointFileManager.create(root, hadoop)

  /**
   * Whether a query has started here. Check it before opening the logs, which create their folders.
   */
  def exists: Boolean = Seq("offsets", "commits").forall(log => files.exists(new Path(root, log)))

  // A new object per call: Spark's log caches entries that were removed.
  def offsets: TextLog = new TextLog(session, new Path(root, "offsets").toString)
  def commits: TextLog = new TextLog(session, new Path(root, "commits").toString)

  def offset(batch: Long): Option[OffsetEntry] = offsets.get(batch).map(OffsetEntry(_))
  def commit(batch: Long): Option[CommitEntry] = commits.get(batch).map(CommitEntry(_))

  /** The micro-batch that has started and not finished, if there is one. */
  def begun: Option[Long] =
    offsets.last.filter(batch => commits.last.forall(_ < batch))

  def queryId: Option[UUID] = {
    val text = new TextFile(files, new Path(root, "metadata")).read()
    text.map(json => UUID.fromString(mapper.readTree(json).get("id").asText))
  }

  /** The metadata of the stateful operators; operators of older Spark versions have none. */
  def operators(batch: Long): Seq[OperatorStateMetadata] = {
    val numbers = folders(state).flatMap(_.toLongOption)
    if (numbers.isEmpty) throw CheckpointErrors.noState(root.toString)
    numbers.foreach(metadata(_).settle())
    val known = Checkpoints.operators(root.toString, hadoop, batch)
    numbers.filterNot(n => known.exists(_.operatorInfo.operatorId == n)).foreach { n =>
      throw CheckpointErrors.unknownOperator(root.toString, s"number $n, of which nothing is noted")
    }
    known.sortBy(_.operatorInfo.operatorId)
  }

  /**
   * Updates the number of partitions in the operators' metadata, in the format that has it only
   * once.
   */
  def noteOperators(batch: Long, partitions: Int): Unit = operators(batch).foreach {
    case operator: OperatorStateMetadataV1 =>
      val file = metadata(operator.operatorInfo.operatorId)
      val lines = file.read().get.linesIterator.toIndexedSeq
      val changed = mapper.readTree(lines(1)).asInstanceOf[ObjectNode]
      changed.get("stateStoreInfo").asInstanceOf[ArrayNode].elements.forEachRemaining { store =>
        val _ = store.asInstanceOf[ObjectNode].put("numPartitions", partitions)
      }
      file.write(lines.updated(1, mapper.writeValueAsString(changed)).mkString("\n"))
    case _ => ()
  }

  private def metadata(operator: Long) =
    new TextFile(files, new Path(state, s"$operator/_metadata/metadata"))

  /** All files in all folders; hidden ones are skipped. */
  def filesBelow(path: Path): Seq[Path] =
    files.list(path).toSeq.filterNot(_.getPath.getName.startsWith(".")).flatMap { file =>
      if (file.isDirectory) filesBelow(file.getPath) else Seq(file.getPath)
    }

  def folders(of: Path): Seq[String] =
    if (!files.exists(of)) Nil
    else files.list(of).toSeq.filter(_.isDirectory).map(_.getPath.getName)
}

private[checkpoint] object Checkpoint {
  private val mapper = new ObjectMapper
}
