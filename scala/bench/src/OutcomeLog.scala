package io.firesteel.bench

import java.nio.file.{Files, Path, StandardOpenOption}

import scala.jdk.CollectionConverters._

import org.json4s.{CustomSerializer, DefaultFormats, Formats, JString}
import org.json4s.jackson.Serialization

/** One line of the log: an answer or times. */
private final case class Entry(answer: Option[QueryAnswer], times: Option[QueryTimes])

/**
 * What has been found out so far, a line for each answer and for each query timed, so that a run
 * which is stopped loses one query and no more.
 */
final class OutcomeLog private (file: Path) {

  implicit private val formats: Formats = OutcomeLog.formats

  def add(answer: QueryAnswer): Unit = write(Entry(Some(answer), None))

  def add(times: QueryTimes): Unit = write(Entry(None, Some(times)))

  def answers: Map[String, QueryAnswer] =
    entries.flatMap(_.answer).map(answer => answer.query -> answer).toMap

  def times: Map[String, QueryTimes] =
    entries.flatMap(_.times).map(times => times.query -> times).toMap

  private def write(entry: Entry): Unit = {
    Files.writeString(file, Serialization.write(entry) + "\n", StandardOpenOption.APPEND)
    ()
  }

  private def entries: Seq[Entry] =
    Files.readAllLines(file).asScala.toSeq.map(line => Serialization.read[Entry](line))
}

object OutcomeLog {

  private val formats: Formats = DefaultFormats + VerdictAsName

  /**
   * @param file named after everything that decides the figures, so that a run goes on only with
   *   figures of its own
   * @param resume whether to go on with what is there
   */
  def open(file: Path, resume: Boolean): OutcomeLog = {
    Files.createDirectories(file.toAbsolutePath.getParent)
    val before = if (resume && Files.exists(file)) Files.readString(file) else ""
    // A run that was killed while it wrote has left half a line, without an end.
    Files.writeString(file, before.linesWithSeparators.filter(_.endsWith("\n")).mkString)
    new OutcomeLog(file)
  }

  private object VerdictAsName
    extends CustomSerializer[Verdict](_ =>
      (
        {
          case JString(name) if Verdict.all.exists(_.name == name) =>
            Verdict.all.find(_.name == name).get
        },
        { case verdict: Verdict => JString(verdict.name) }))
}
