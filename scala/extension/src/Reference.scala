package io.firesteel.extension

import io.firesteel.core.decide.DeclineDoc
import io.firesteel.core.errors.FiresteelErrors
import org.apache.spark.sql.firesteel.ConfigEntry

/**
 * The text of REFERENCE.md: every setting, decline and error that the code has.
 *
 * Each code and each condition is a heading, so that a page can link to it. `build/sbt reference`
 * writes the page, and `make check` fails when the page is out of date.
 */
object Reference {

  private val declines: Seq[DeclineDoc] = Rooms.all.flatMap(_.declines)

  /** Every condition begins with it. */
  private val prefix = "FIRESTEEL_"

  def text: String = Seq(
    "# Reference",
    "Written by `build/sbt reference` from the code; `make check` fails when it is out of date.",
    "## Settings",
    "All can be changed in a running session: `SET key=value`. A `spark.firesteel.*` key that is " +
      "not here is refused.",
    table("setting", "default", "meaning")(
      Configs.all.map(e => Seq(code(e.key), defaultOf(e), e.doc))),
    "## Why a query was left to Spark",
    "`firesteel.explain` gives the code, the values that decided and the setting that would " +
      "change it.",
    grouped(declines.map(_.code), '.')(declined),
    "## Errors",
    "A word in angle brackets stands for a value that the error names.",
    grouped(FiresteelErrors.conditions, '_', prefix)(error)
  ).mkString("", "\n\n", "\n")

  /** Entries by the first word of their names; words with one entry share the last group. */
  private def grouped(names: Seq[String], end: Char, before: String = "")(
      entry: String => Seq[String]): String = {
    val groups = names.sorted.groupBy(_.stripPrefix(before).takeWhile(_ != end)).toSeq.sortBy(_._1)
    val (several, single) = groups.partition(_._2.size > 1)
    val titled = several.map { case (word, its) => s"### $before$word$end*" -> its }
    val others = if (single.isEmpty) Nil else Seq("### Others" -> single.flatMap(_._2))
    (titled ++ others)
      .flatMap { case (title, its) =>
        title +: its.flatMap(name => s"#### ${code(name)}" +: entry(name))
      }
      .mkString("\n\n")
  }

  private def declined(name: String): Seq[String] =
    declines.filter(_.code == name).take(1).flatMap { d =>
      sentence(d.meaning) +:
        (Option.when(d.cure.nonEmpty)(toDo(d.cure)) ++
          d.setting.map(key => s"**Setting:** ${code(key)}")).toSeq
    }

  /** The first line of a template says what is wrong, the others what to do. */
  private def error(condition: String): Seq[String] = {
    val (wrong, cure) = FiresteelErrors.template(condition).linesIterator.toSeq.splitAt(1)
    (wrong.map(sentence) ++ Option.when(cure.nonEmpty)(toDo(cure.mkString(" ")))) :+
      s"**SQLSTATE:** ${code(FiresteelErrors.sqlState(condition))}"
  }

  private def toDo(cure: String): String = s"**What to do:** ${sentence(cure)}"

  private def sentence(text: String): String = {
    val line = text.replaceAll("\\s+", " ").trim
    val word = line.takeWhile(_ != ' ')
    val begun = if (word.length > 1 && word.forall(_.isLetter)) line.capitalize else line
    val ended = if (begun.lastOption.exists(".:>".contains(_))) begun else s"$begun."
    escaped(ended.replaceAll("<(\\w+)>", "`<$1>`"))
  }

  /** Code keeps its `<`: Markdown shows an escape in it as it stands. */
  private def escaped(text: String): String =
    text
      .split("`", -1)
      .zipWithIndex
      .map { case (part, i) => if (i % 2 == 0) part.replace("<", "&lt;") else part }
      .mkString("`")

  private def defaultOf(entry: ConfigEntry[_]): String =
    if (entry.defaultValue.isEmpty) "not set" else code(entry.defaultValueString)

  private def code(text: String): String = s"`$text`"

  private def table(titles: String*)(rows: Seq[Seq[String]]): String =
    (titles +: titles.map(_ => "---") +: rows.map(_.map(cell)))
      .map(_.mkString("| ", " | ", " |"))
      .mkString("\n")

  private def cell(text: String): String =
    escaped(text.replaceAll("\\s+", " ").replace("|", "\\|")).trim

  /** Writes the page to the path given, or with `--check` compares it. */
  def main(args: Array[String]): Unit = {
    import java.nio.charset.StandardCharsets.UTF_8
    import java.nio.file.{Files, Path}

    val page = Path.of(args.last)
    val current = Files.exists(page) && Files.readString(page, UTF_8) == text
    if (args.head != "--check") {
      val _ = Files.writeString(page, text, UTF_8)
    } else if (!current) {
      sys.error(s"${page.getFileName} is not what the code says: run `build/sbt reference`")
    }
  }
}
