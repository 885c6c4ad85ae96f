import sbt._

/** Every version the Scala build depends on, once, each with its reason. */
object Dependencies {

  /**
   * What a minor version of Spark is compiled with.
   *
   * @param scala Spark's own Scala: the jar must match it to the last digit of the minor version
   * @param compiledAgainst the release on Maven whose jars are compiled against; none for those of
   *   the installed PySpark
   */
  final case class Spark(scala: String, compiledAgainst: Option[String])

  /**
   * The supported minor versions, each compiled against its oldest release: a later one has methods
   * and arguments that the oldest lacks, and none of an older is gone. Tests run on the newest, the
   * PySpark that `build/venv` pins.
   */
  val sparks: Map[String, Spark] = Map(
    "4.0" -> Spark("2.13.16", Some("4.0.1")), // PySpark 4.0.0 cannot be told from previews
    "4.1" -> Spark("2.13.17", Some("4.1.1")), // 4.1.0 was withdrawn
    "4.2" -> Spark("2.13.18", Some("4.2.0")),
    // Its only release, which is on PyPI and not yet on Maven.
    "4.3" -> Spark("2.13.18", None)
  )

  /** The modules of Spark that rooms use; with them come all others that rooms import from. */
  def sparkModules: Seq[ModuleID] = sparks(SparkVersion.current).compiledAgainst.toSeq
    .map(release => "org.apache.spark" %% "spark-sql" % release)

  /** The test framework of Spark itself. */
  val scalatest: ModuleID = "org.scalatest" %% "scalatest" % "3.2.19"

  /** Random tables and random queries, shrunk to the smallest that fails. */
  val scalacheck: ModuleID = "org.scalacheck" %% "scalacheck" % "1.18.1"

  /**
   * Caches of lookups and of samples: bounded, expiring, and fast enough to be asked for every row.
   */
  val caffeine: ModuleID = ("com.github.ben-manes.caffeine" % "caffeine" % "3.2.0")
    .excludeAll("org.jspecify" % "jspecify", "com.google.errorprone" % "error_prone_annotations")

  /** Connection pools of the JDBC connector; its slf4j is Spark's, or its log would be lost. */
  val hikari: ModuleID =
    ("com.zaxxer" % "HikariCP" % "6.2.1").exclude("org.slf4j", "slf4j-api")

  /** What PySpark ships an older version of: these jars of its are not compiled against. */
  val shadowed: Seq[String] = Seq("HikariCP-")

  /** A database in the test's own process, with every SQL type. */
  val h2: ModuleID = "com.h2database" % "h2" % "2.3.232"

  /** A database in a file, as the demo uses it. */
  val sqlite: ModuleID =
    ("org.xerial" % "sqlite-jdbc" % "3.49.1.0").exclude("org.slf4j", "slf4j-api")

  /** The driver of the real server that tests start; `tests/python` fetches the same. */
  val postgresql: ModuleID = "org.postgresql" % "postgresql" % "42.7.5"

  /** Makes the data of TPC-DS, the same as the TPC's own tool; its Guava is PySpark's. */
  val tpcdsData: ModuleID = ("io.trino.tpcds" % "tpcds" % "1.4").intransitive()

  /** Makes the data of TPC-H, the same as the TPC's own tool. */
  val tpchData: ModuleID = ("io.trino.tpch" % "tpch" % "1.2").intransitive()

  /** The queries of TPC-DS, of TPC-H and of Spark's own tests: its newest test jar with Maven. */
  val sparksTests: ModuleID =
    ("org.apache.spark" %% "spark-sql" % "4.2.0").classifier("tests").intransitive()
}
