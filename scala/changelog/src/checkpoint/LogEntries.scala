package io.firesteel.changelog.checkpoint

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.sql.internal.SQLConf

/**
 * An entry of the offset log: a line with the format, a line with the settings as JSON, then the
 * sources' offsets.
 */
final private[checkpoint] case class OffsetEntry(text: String) {
  import OffsetEntry._

  private val lines = text.linesIterator.toIndexedSeq

  def metadata: String = lines.lift(1).filter(_.startsWith("{")).getOrElse("{}")

  /** The offsets of the sources as JSON, `-` where there is none. */
  def sources: Seq[String] = lines.drop(2)

  /** The same entry with the sources at other places; none if its format has no places. */
  def placed(places: Seq[Int]): Option[OffsetEntry] =
    if (!lines.headOption.contains("v1")) None
    else Some(OffsetEntry((lines.take(2) ++ places.map(sources)).mkString("\n")))

  private def conf(key: String): Option[String] =
    Option(mapper.readTree(metadata).path("conf").get(key)).map(_.asText)

  /** The number of partitions of the state. */
  def partitions: Option[Int] = conf(SQLConf.SHUFFLE_PARTITIONS.key).flatMap(_.toIntOption)

  /**
   * Whether rows are distributed by all keys of an operator; in older checkpoints they may not be.
   */
  def isStrict: Boolean =
    conf(SQLConf.STATEFUL_OPERATOR_USE_STRICT_DISTRIBUTION.key).forall(_ == "true")

  /** The note about a repartitioning that must be completed first, if there is one. */
  def note: Option[RepartitionNote] = conf(noteKey).map(RepartitionNote.parse)

  /** A micro-batch without new rows after this one, at a later time. */
  def repeated(watermarkMs: Option[Long], nowMs: Long): OffsetEntry = {
    val changed = mapper.readTree(metadata).asInstanceOf[ObjectNode]
    Option(changed.get("conf")).foreach { conf =>
      val _ = conf.asInstanceOf[ObjectNode].remove(noteKey)
    }
    watermarkMs.filter(_ > changed.path("batchWatermarkMs").asLong).foreach { ms =>
      changed.put("batchWatermarkMs", ms)
    }
    changed.put("batchTimestampMs", math.max(nowMs, changed.path("batchTimestampMs").asLong))
    OffsetEntry(lines.updated(1, mapper.writeValueAsString(changed)).mkString("\n"))
  }

  /** The same offsets with another number of partitions. */
  def repartitioned(partitions: Int, note: RepartitionNote): OffsetEntry = {
    val changed = mapper.readTree(metadata).asInstanceOf[ObjectNode]
    val conf = changed.get("conf").asInstanceOf[ObjectNode]
    conf.put(SQLConf.SHUFFLE_PARTITIONS.key, partitions.toString)
    conf.put(noteKey, note.json)
    OffsetEntry(lines.updated(1, mapper.writeValueAsString(changed)).mkString("\n"))
  }

  /** Whether it equals another entry, except for the settings. */
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

  /** Spark ignores settings that it does not know. */
  private val noteKey = "firesteel.repartition"
}

/**
 * An entry of the commit log: a line with the format, and a line of JSON. If stores have version
 * ids, it has those that the micro-batch committed.
 */
final private[checkpoint] case class CommitEntry(text: String) {
  import CommitEntry._

  private val lines = text.linesIterator.toIndexedSeq
  private lazy val ids: JsonNode = mapper.readTree(lines(1)).path(idsKey)

  /** The watermark of the next micro-batch. */
  def watermarkMs: Option[Long] =
    Option(mapper.readTree(lines(1)).get("nextBatchWatermarkMs")).map(_.asLong)

  def hasIds: Boolean = ids.isObject && !ids.isEmpty

  /** The version ids of an operator's stores, by partition. */
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
 * The data that completes a repartitioning whose entry in the offset log was written.
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
