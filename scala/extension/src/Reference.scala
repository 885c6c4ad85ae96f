package io.firesteel.extension

import io.firesteel.core.{DeclineDoc, FiresteelErrors}
import io.firesteel.rank.RankDecline

/**
 * The text of REFERENCE.md: every setting, reason and error, as the code has them.
 *
 * `build/sbt reference` writes the page, `make check` fails when it is not this.
 */
object Reference {

  private val declines: Seq[DeclineDoc] = RankDecline.docs

  def text: String =
    s"""# Reference
       |
       |Written by `build/sbt reference` from the code; `make check` fails when it is out of date.
       |
       |## Settings
       |
       |All can be changed in a running session: `SET key=value`. A `spark.firesteel.*` key that is not
       |here is refused.
       |
       || setting | default | meaning |
       || --- | --- | --- |
       |$settings
       |
       |## Why a query was left to Spark
       |
       |`firesteel.explain` gives the code, the values that decided and the setting that would change it.
       |
       || code | meaning | setting |
       || --- | --- | --- |
       |$reasons
       |
       |## Errors
       |
       || condition | SQLSTATE | text |
       || --- | --- | --- |
       |$errors
       |""".stripMargin

  private def settings: String =
    Configs.all
      .map(e => s"| `${e.key}` | `${e.defaultValueString}` | ${oneLine(e.doc)} |")
      .mkString("\n")

  private def reasons: String =
    declines
      .sortBy(_.code)
      .map(d => s"| `${d.code}` | ${oneLine(d.meaning)} | ${d.setting.fold("")(s => s"`$s`")} |")
      .mkString("\n")

  private def errors: String =
    FiresteelErrors.conditions
      .map(c =>
        s"| `$c` | ${FiresteelErrors.sqlState(c)} | ${oneLine(FiresteelErrors.template(c))} |")
      .mkString("\n")

  private def oneLine(text: String): String =
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
