package io.firesteel.bench

import java.lang.management.ManagementFactory
import java.nio.file.{Files, Path, Paths}
import java.time.LocalDate

import scala.jdk.CollectionConverters._
import scala.sys.process.{Process, ProcessLogger}
import scala.util.Properties

import com.sun.management.OperatingSystemMXBean

/** The environment of a page of results: names and values, in the order of the page. */
final case class Environment(facts: Seq[(String, String)])

object Environment {

  def of(command: String, firesteel: String, spark: String): Environment = Environment(
    Seq(
      "command" -> s"`$command`",
      "commit" -> commit,
      "date" -> LocalDate.now().toString,
      "firesteel" -> firesteel,
      "Spark" -> spark,
      "Scala" -> Properties.versionNumberString,
      "JDK" -> s"${Properties.javaVmName} ${Properties.javaVersion}",
      "heap" -> gibibytes(Runtime.getRuntime.maxMemory),
      "cores" -> s"${Runtime.getRuntime.availableProcessors}$processor",
      "memory" -> gibibytes(machineBytes),
      "OS" -> s"$osName, ${Properties.osName} ${System.getProperty("os.arch")}"
    ))

  /** The commit, and whether the measured tree differs from it. */
  private def commit: String = git("rev-parse", "--short", "HEAD").fold("not in git") { head =>
    val changed =
      git("status", "--porcelain", "--untracked-files=no", "--", ":!scala/bench/results")
    if (changed.exists(_.nonEmpty)) s"$head, with uncommitted changes" else head
  }

  private def git(arguments: String*): Option[String] = {
    val out = new StringBuilder
    val code = Process("git" +: arguments).!(ProcessLogger(line => out.append(line), _ => ()))
    Option.when(code == 0)(out.toString.trim)
  }

  private def machineBytes: Long = ManagementFactory.getOperatingSystemMXBean match {
    case system: OperatingSystemMXBean => system.getTotalMemorySize
    case _ => Runtime.getRuntime.maxMemory
  }

  private def gibibytes(bytes: Long): String = f"${bytes.toDouble / (1L << 30)}%.1f GiB"

  private def processor: String =
    field(Paths.get("/proc/cpuinfo"), "model name", ':').fold("")(model => s", $model")

  private def osName: String =
    field(Paths.get("/etc/os-release"), "PRETTY_NAME", '=').getOrElse(Properties.osName)

  private def field(file: Path, name: String, separator: Char): Option[String] =
    if (Files.isReadable(file)) {
      Files.readAllLines(file).asScala.collectFirst {
        case line if line.startsWith(name) =>
          line.drop(line.indexOf(separator.toInt) + 1).trim.replace("\"", "")
      }
    } else None
}
