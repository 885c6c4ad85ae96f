import sbt._

/** The jar of sources. */
object Sources {

  private val Package = """(?m)^package ([\w.]+)""".r

  /**
   * Each file with its path in the jar, by the package that it declares, as development tools look
   * for it. Folders here leave out what all files have in common.
   */
  def byPackage(files: Seq[File]): Seq[(File, String)] = files.map { file =>
    val found = Package.findFirstMatchIn(IO.read(file)).map(_.group(1))
    file -> (found.toSeq.flatMap(_.split('.')) :+ file.getName).mkString("/")
  }
}
