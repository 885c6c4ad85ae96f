package io.firesteel.extension

import io.firesteel.core.decide.DeclineDoc
import io.firesteel.core.errors.FiresteelErrors
import org.apache.spark.sql.firesteel.ConfigEntry

/**
 * The text of REFERENCE.md: every setting, reason and error, as the code has them.
 *
 * `build/sbt reference` writes the page, `make check` fails when it is not this.
 */
object Reference {

  private val declines: Seq[DeclineDoc] = Rooms.all.flatMap(_.declines)

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
    table("code", "meaning", "what to do", "setting")(declines.sortBy(_.code).map(d =>
      Seq(code(d.code), d.meaning, d.cure, d.setting.fold("")(code)))),
    "## Errors",
    table("condition", "SQLSTATE", "text")(FiresteelErrors.conditions.map(c =>
      Seq(code(c), FiresteelErrors.sqlState(c), FiresteelErrors.template(c))))
  ).mkString("", "\n\n", "\n")

  private def defaultOf(entry: ConfigEntry[_]): String =
    if (entry.defaultValue.isEmpty) "not set" else code(entry.defaultValueString)

  private def code(text: String): String = s"`$text`"

  private def table(titles: String*)(rows: Seq[Seq[String]]): String =
    (titles +: titles.map(_ => "---") +: rows.map(_.map(cell)))
      .map(_.mkString("| ", " | ", " |"))
      .mkString("\n")

  private def cell(text: String): String =
    text.replaceAll("\\s+", " ").replace("|", "\\|").replace("<", "&lt;").trim

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
