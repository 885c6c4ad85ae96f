package io.firesteel.changelog.checkpoint

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.internal.SQLConf

/**
 * What a micro-batch reads, and under which settings: a line with the format, one with the settings as
 * JSON, then the sources' offsets.
 */
final private[checkpoint] case class OffsetEntry(text: String) {
  import OffsetEntry._

  private val lines = text.linesIterator.toIndexedSeq

  def metadata: String = lines.lift(1).filter(_.startsWith("{")).getOrElse("{}")

  private def conf(key: String): Option[String] =
    Option(mapper.readTree(metadata).path("conf").get(key)).map(_.asText)

  /** Into how many parts the state is split. */
  def partitions: Option[Int] = conf(SQLConf.SHUFFLE_PARTITIONS.key).flatMap(_.toIntOption)

  /** Whether operators are spread by all of their keys; older checkpoints need not be. */
  def isStrict: Boolean =
    conf(SQLConf.STATEFUL_OPERATOR_USE_STRICT_DISTRIBUTION.key).forall(_ == "true")

  /** Where there is one: what is to be done before the micro-batch may be taken for done. */
  def note: Option[RepartitionNote] = conf(noteKey).map(RepartitionNote.parse)

  /** The same offsets with another number of parts. */
  def repartitioned(partitions: Int, note: RepartitionNote): OffsetEntry = {
    val changed = mapper.readTree(metadata).asInstanceOf[ObjectNode]
    val conf = changed.get("conf").asInstanceOf[ObjectNode]
    conf.put(SQLConf.SHUFFLE_PARTITIONS.key, partitions.toString)
    conf.put(noteKey, note.json)
    OffsetEntry(lines.updated(1, mapper.writeValueAsString(changed)).mkString("\n"))
  }

  /** Whether it is a copy of another one, but for the settings. */
  def isCopyOf(other: OffsetEntry): Boolean = {
    def times(entry: OffsetEntry) = {
      val metadata = mapper.readTree(entry.metadata)
      (metadata.get("batchWatermarkMs"), metadata.get("batchTimestampMs"))
    }
    lines.drop(2) == other.lines.drop(2) && times(this) == times(other)
  }
}

private[checkpoint] object OffsetEntry {
  private val mapper = new ObjectMapper

  /** Spark hands on no setting that it does not know. */
  private val noteKey = "firesteel.repartition"
}

/**
 * That a micro-batch has ended: a line with the format, and one of JSON. Where stores have versions of
 * their own, it names those that the micro-batch has left behind.
 */
final private[checkpoint] case class CommitEntry(text: String) {
  import CommitEntry._

  private val lines = text.linesIterator.toIndexedSeq
  private lazy val ids: JsonNode = mapper.readTree(lines(1)).path(idsKey)

  def hasIds: Boolean = ids.isObject && !ids.isEmpty

  /** Of an operator: for each partition, for each of its stores. */
  def idsOf(operator: Long): IndexedSeq[IndexedSeq[String]] =
    ids.path(operator.toString).elements.asScala
      .map(_.elements.asScala.map(_.asText).toIndexedSeq)
      .toIndexedSeq

  def withIds(of: Map[Long, Seq[Seq[String]]]): CommitEntry = {
    val changed = mapper.readTree(lines(1)).asInstanceOf[ObjectNode]
    val all = changed.putObject(idsKey)
    of.foreach { case (operator, partitions) =>
      val listed = all.putArray(operator.toString)
      partitions.foreach(stores => stores.foldLeft(listed.addArray())(_.add(_)))
    }
    CommitEntry(lines.updated(1, mapper.writeValueAsString(changed)).mkString("\n"))
  }
}

private[checkpoint] object CommitEntry {
  private val mapper = new ObjectMapper
  private val idsKey = "stateUniqueIds"
}

/**
 * What makes a repartitioning whole that has come to its entry in the offset log.
 *
 * @param staged the folder of the new state, below the checkpoint
 * @param commit the micro-batch's entry in the commit log
 */
final private[checkpoint] case class RepartitionNote(staged: String, commit: CommitEntry) {
  def json: String = {
    val mapper = new ObjectMapper
    mapper.writeValueAsString(
      mapper.createObjectNode().put("staged", staged).put("commit", commit.text))
  }
}

private[checkpoint] object RepartitionNote {
  def parse(json: String): RepartitionNote = {
    val root = new ObjectMapper().readTree(json)
    RepartitionNote(root.get("staged").asText, CommitEntry(root.get("commit").asText))
  }
}
