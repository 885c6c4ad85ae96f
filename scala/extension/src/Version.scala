package io.firesteel.extension

/** What this jar is and what it fits. */
object Version {

  /** The version of the jar, the same as the Python package's; the build writes it. */
  val firesteel: String = {
    val in = getClass.getClassLoader.getResourceAsStream("firesteel-version.txt")
    try new String(in.readAllBytes(), "UTF-8").trim
    finally in.close()
  }
}
