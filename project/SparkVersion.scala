import sbt._

/**
 * The Spark that this build is for: the variable `SPARK`, a minor version such as `4.1`.
 *
 * Sources of all versions are in `src`. Sources of some versions are in a folder beside it, whose
 * name says of which:
 *
 * {{{
 *   src-4.0        4.0 alone
 *   src-4.2+       4.2 and above
 *   src-4.2-       4.2 and below
 *   src-4.1-4.2    4.1 to 4.2
 * }}}
 *
 * The same holds for `test`. What one version has in such a folder, each other version has too, in
 * another folder of the same project, under the same name.
 */
object SparkVersion {

  /** The version that is built without a word. */
  val default = "4.3"

  val current: String = sys.env.get("SPARK").filter(_.nonEmpty).getOrElse(default)

  if (!Dependencies.sparks.contains(current)) {
    sys.error(s"SPARK=$current is none of ${Dependencies.sparks.keys.toSeq.sorted.mkString(", ")}")
  }

  /** The virtual environment with this version's PySpark; `build/venv` makes it. */
  val venv: File = file(if (current == default) ".venv" else s".venv-$current")

  /** The folders of `base` with sources of this version beside `base / kind`. */
  def folders(base: File, kind: String): Seq[File] = versioned(base, kind).collect {
    case (folder, versions) if versions(current) => folder
  }

  /** The folders of `base` with sources of any version, for those who format them. */
  def allFolders(base: File, kind: String): Seq[File] = versioned(base, kind).map(_._1)

  private def versioned(base: File, kind: String): Seq[(File, String => Boolean)] =
    IO.listFiles(base).toSeq.filter(_.isDirectory).sorted.collect {
      case folder if folder.getName.matches(s"$kind-\\d.*") =>
        folder -> range(folder.getName.stripPrefix(s"$kind-"))
    }

  /** Whether a minor version is one of a range, as the names of folders have it. */
  def range(text: String): String => Boolean = {
    val version = """4\.(\d+)"""
    val Single = version.r
    val AndAbove = s"$version\\+".r
    val AndBelow = s"$version-".r
    val Between = s"$version-$version".r
    def minor(spark: String): Int = spark match { case Single(n) => n.toInt }
    text match {
      case Single(n) => minor(_) == n.toInt
      case AndAbove(n) => minor(_) >= n.toInt
      case AndBelow(n) => minor(_) <= n.toInt
      case Between(first, last) =>
        spark => minor(spark) >= first.toInt && minor(spark) <= last.toInt
      case _ => sys.error(s"$text is no range of versions, such as 4.1, 4.1+, 4.1- or 4.1-4.2")
    }
  }
}
