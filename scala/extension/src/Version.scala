package io.firesteel.extension

/** The version of this jar. */
object Version {

  /** Equal to the Python package's version; the build writes it. */
  val firesteel: String = {
    val in = getClass.getClassLoader.getResourceAsStream("firesteel-version.txt")
    try new String(in.readAllBytes(), "UTF-8").trim
    finally in.close()
  }
}
