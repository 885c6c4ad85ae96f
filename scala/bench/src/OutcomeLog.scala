package io.firesteel.bench

import java.nio.file.{Files, Path, StandardOpenOption}

import scala.jdk.CollectionConverters._

import org.json4s.{CustomSerializer, DefaultFormats, Formats, JString}
import org.json4s.jackson.Serialization

/** One line of the log: an answer, or times. */
private final case class Entry(answer: Option[QueryAnswer], times: Option[QueryTimes])

/**
 * The results so far, a line for each answer and for each timed query. So a stopped run loses one
 * query at most.
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
   * @param file its name contains everything that decides the figures, so a run continues only its
   *   own figures
   * @param resume whether to continue the file
   */
  def open(file: Path, resume: Boolean): OutcomeLog = {
    Files.createDirectories(file.toAbsolutePath.getParent)
    val before = if (resume && Files.exists(file)) Files.readString(file) else ""
    // A run that was killed while it wrote leaves half a line, without an end.
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
