package io.firesteel.tests

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/**
 * Names of Spark in the rooms: they are the same in every version of Spark that the source is
 * compiled for, or the bridge has them.
 *
 * A new name is a decision. It goes to `tests/spark-names.txt` if all supported versions have it in
 * the same form, and to the bridge if they do not.
 */
class SparkNamesSuite extends AnyFunSuite {

  private val tables: Map[String, Seq[String]] =
    Files.readString(Paths.get("tests/spark-names.txt")).split("(?m)^\\[").drop(1).map { part =>
      val (title, lines) = part.splitAt(part.indexOf("]\n"))
      title -> lines.linesIterator.drop(1).filterNot(line =>
        line.isBlank || line.startsWith("#")).toSeq
    }.toMap

  /** Classes by package; a lone star is a whole package. */
  private val mayImport: Set[(String, String)] = tables("imports").flatMap { line =>
    val words = line.trim.split(" +").toSeq
    words.tail.map(words.head -> _)
  }.toSet

  private val mayTakeApart: Set[String] = tables("extractors").flatMap(_.trim.split(" +")).toSet

  private final class Source(val file: Path) {
    private val text = Files.readString(file)

    private val code: String = text
      .replaceAll("(?s)/\\*.*?\\*/", "")
      .replaceAll("(?s)\"\"\".*?\"\"\"", "\"\"")
      .replaceAll("\"(\\\\.|[^\"\\\\\n])*\"", "\"\"")
      .replaceAll("//.*", "")

    private val named = """org\.apache\.spark((?:\.[a-z]\w*)*)\.(\{[^}]*\}|[A-Z]\w*|_|[a-z]\w*)""".r

    /** Package and name of everything of Spark. */
    val names: Set[(String, String)] = named.findAllMatchIn(code).flatMap { found =>
      val of = s"spark${found.group(1)}"
      found.group(2).stripPrefix("{").stripSuffix("}").split(",").map { name =>
        of -> name.trim.takeWhile(c => c.isLetterOrDigit || c == '_')
      }
    }.toSet.filterNot { case (of, name) => isBridge(of, name) }

    private def isBridge(of: String, name: String): Boolean =
      s"$of.$name".startsWith("spark.sql.firesteel")

    private val classes: Set[String] = names.map(_._2).filter(_.head.isUpper)

    /** Spark's classes that patterns take apart by position, with their lines. */
    val extractors: Seq[(String, String)] = code.linesIterator
      .filter(line => line.contains("case ") && !line.contains("case class"))
      .flatMap { line =>
        val pattern = line.drop(line.indexOf("case ")).split("=>").head.split(" if ").head
        "([A-Z]\\w*)\\(".r.findAllMatchIn(pattern).map(_.group(1)).filter(classes).map(_ -> line)
      }.toSeq
  }

  private val sources: Seq[Source] = Files.list(Paths.get("scala")).iterator.asScala.toSeq
    .filterNot(room => Set("bridge", "bench", "testkit")(room.getFileName.toString))
    .map(_.resolve("src"))
    .filter(Files.isDirectory(_))
    .flatMap(Files.walk(_).iterator.asScala.filter(_.toString.endsWith(".scala")))
    .map(new Source(_))

  private val used = sources.flatMap(_.names).toSet

  private def lines(names: Set[(String, String)]): String =
    names.groupMap(_._1)(_._2).toSeq.sortBy(_._1)
      .map { case (of, some) => s"$of ${some.toSeq.sorted.mkString(" ")}" }.mkString("\n", "\n", "")

  test("rooms name what all versions of Spark have, or the bridge") {
    val others = used.filterNot { case (of, name) => mayImport(of -> name) || mayImport(of -> "*") }
    assert(others.isEmpty, s"not in tests/spark-names.txt: ${lines(others)}")
  }

  test("the list has no name that no room needs") {
    val idle = mayImport.filterNot { case (of, name) =>
      if (name == "*") used.exists(_._1 == of) else used(of -> name)
    }
    assert(idle.isEmpty, s"in tests/spark-names.txt: ${lines(idle)}")
  }

  test("no pattern takes a class of Spark apart by position whose arguments change") {
    val others = for {
      source <- sources
      (name, line) <- source.extractors
      if !mayTakeApart(name)
    } yield s"${source.file}: $name in ${line.trim}"
    assert(others.isEmpty, others.mkString("\n", "\n", "\n"))
    assert(mayTakeApart.diff(sources.flatMap(_.extractors.map(_._1)).toSet).isEmpty, "not needed")
  }

  test("only the bridge has folders of versions") {
    val versioned = Files.list(Paths.get("scala")).iterator.asScala.toSeq
      .filter(room => Files.isDirectory(room) && !room.endsWith("bridge"))
      .flatMap(room => Files.list(room).iterator.asScala)
      .filter(_.getFileName.toString.matches("src-\\d.*"))
    assert(versioned.isEmpty)
  }
}
