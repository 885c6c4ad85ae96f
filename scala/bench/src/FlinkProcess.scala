package io.firesteel.bench

import java.io.{BufferedReader, InputStreamReader, PrintWriter}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit

import org.json4s.{DefaultFormats, Extraction, Formats, JObject, JString, JValue}
import org.json4s.jackson.JsonMethods.{compact, parse, render}

/** The versions that run there. */
final case class FlinkFacts(flink: String, java: String, heapBytes: Long) {

  /** Names and values for a page. */
  def forPage: Seq[(String, String)] = Seq(
    "Flink" -> flink,
    "Flink's JDK, heap" -> f"$java, ${heapBytes / math.pow(2, 30)}%.1f GiB")
}

/**
 * Apache Flink in a process of its own, which stays warm from job to job. Requests are lines of
 * JSON, see `build/bench_flink.py`.
 *
 * @param python the interpreter of the environment that has Flink
 * @param heap the heap of its JVM
 * @param log the file for all other output
 */
final class FlinkProcess(python: Path, heap: String, log: Path) extends AutoCloseable {

  implicit private val formats: Formats = DefaultFormats

  private val process = {
    Files.createDirectories(log.toAbsolutePath.getParent)
    new ProcessBuilder(python.toString, "build/bench_flink.py", "--heap", heap)
      .redirectError(log.toFile)
      .start()
  }
  private val requests = new PrintWriter(process.getOutputStream, true, UTF_8)
  private val answers = new BufferedReader(new InputStreamReader(process.getInputStream, UTF_8))

  def facts: FlinkFacts = ask(JObject("do" -> JString("facts"))).extract[FlinkFacts]

  /** Seconds from SQL text to the end of the job. */
  def time(job: FlinkJob): Run = Run((ask("run", job) \ "seconds").extract[Double], Nil)

  /** The final checksum of a query of one row; zeros if there was no row. */
  def checksum(job: FlinkJob): Checksum = (ask("last", job) \ "row").extract[Seq[Long]] match {
    case Seq(rows, digest) => Checksum(rows, digest)
    case _ => Checksum.none
  }

  def plan(job: FlinkJob): String = (ask("plan", job) \ "plan").extract[String]

  private def ask(what: String, job: FlinkJob): JValue =
    ask(JObject(
      "do" -> JString(what),
      "settings" -> Extraction.decompose(job.settings),
      "ddl" -> Extraction.decompose(job.ddl),
      "sql" -> JString(job.sql)))

  private def ask(request: JObject): JValue = {
    requests.println(compact(render(request)))
    Option(answers.readLine()) match {
      case None => sys.error(s"Flink has ended; see $log")
      case Some(line) =>
        val answer = parse(line)
        (answer \ "error").extractOpt[String].foreach(why => sys.error(s"Flink: $why; see $log"))
        answer
    }
  }

  override def close(): Unit = {
    requests.close() // it ends when there are no more requests
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      process.descendants.forEach { child =>
        val _ = child.destroy()
      }
      process.destroy()
    }
  }
}
