import sbt._

/** Every version the Scala build depends on, once, each with its reason. Spark comes from `.venv`. */
object Dependencies {

  /** Spark 4.3.0's own Scala: the jar must match it to the last digit of the minor version. */
  val scala = "2.13.18"

  /** The test framework of Spark itself. */
  val scalatest: ModuleID = "org.scalatest" %% "scalatest" % "3.2.19"

  /** Random tables and random queries, shrunk to the smallest that fails. */
  val scalacheck: ModuleID = "org.scalacheck" %% "scalacheck" % "1.18.1"

  /** Lookup caches: bounded, expiring, and fast enough to be asked for every row. */
  val caffeine: ModuleID = ("com.github.ben-manes.caffeine" % "caffeine" % "3.2.0")
    .excludeAll("org.jspecify" % "jspecify", "com.google.errorprone" % "error_prone_annotations")
}
