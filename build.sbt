import Dependencies._

Global / onChangedBuildSource := ReloadOnSourceChanges

// Two rooms' tests at a time, for two cores; sbt would run one after the other.
Global / concurrentRestrictions := Seq(Tags.limitAll(2), Tags.limit(Tags.ForkedTestGroup, 2))

ThisBuild / organization := "io.firesteel"
ThisBuild / versionScheme := Some("early-semver")
ThisBuild / version := """(?m)^__version__ = "(.+)"""".r
  .findFirstMatchIn(IO.read(file("python/src/firesteel/_version.py"))).get.group(1)
ThisBuild / scalaVersion := Dependencies.sparks(SparkVersion.current).scala
// Its rules here read syntax alone, so the linter need not be of the compiler's exact version.
ThisBuild / scalafixScalaBinaryVersion := "2.13"

/** The jars of the installed PySpark: what tests run with, and what users have. */
lazy val pysparkJars = taskKey[Seq[File]]("jars of the PySpark in the virtual environment")
ThisBuild / pysparkJars := {
  val jars = SparkVersion.venv / "lib" * "python3*" / "site-packages" / "pyspark" / "jars" * "*.jar"
  val found = jars.get
  if (found.isEmpty) sys.error(s"no PySpark in ${SparkVersion.venv}: run `make setup`")
  // Whichever comes first wins, and of these we bundle a newer version.
  found.filterNot(jar => Dependencies.shadowed.exists(jar.getName.startsWith))
}

/** Spark's jars of the release that is compiled against; on no class path otherwise. */
lazy val SparkJars = config("sparkJars").hide

lazy val compileJars = taskKey[Seq[File]]("Spark's jars that are compiled against")

/** Spark's jars at run time are those of PySpark, whatever was compiled against. */
def running(classpath: Classpath, compiled: Seq[File], installed: Seq[File]): Classpath =
  classpath.filterNot(jar => compiled.contains(jar.data)) ++ Attributed.blankSeq(installed)

/** The sources of every version are formatted, whichever is built. */
def formatAll(in: Configuration, kind: String): Seq[Setting[_]] = Seq(
  in / scalafmt / unmanagedSourceDirectories ++= SparkVersion.allFolders(baseDirectory.value, kind),
  in / scalafmt / unmanagedSources :=
    ((in / unmanagedSources).value ++
      SparkVersion.allFolders(baseDirectory.value, kind).flatMap(f =>
        (f ** "*.scala").get)).distinct
)

lazy val common = Seq(
  // Of each version its own, so that one does not overwrite the classes of another.
  target := baseDirectory.value / s"target-${SparkVersion.current}",
  sourcesInBase := false,
  Compile / scalaSource := baseDirectory.value / "src",
  Compile / javaSource := baseDirectory.value / "src",
  Compile / resourceDirectory := baseDirectory.value / "resources",
  Test / scalaSource := baseDirectory.value / "test",
  Test / javaSource := baseDirectory.value / "test",
  Test / resourceDirectory := baseDirectory.value / "test-resources",
  Compile / unmanagedSourceDirectories ++= SparkVersion.folders(baseDirectory.value, "src"),
  Test / unmanagedSourceDirectories ++= SparkVersion.folders(baseDirectory.value, "test"),
  ivyConfigurations += SparkJars,
  libraryDependencies ++= sparkModules.map(_ % SparkJars),
  compileJars :=
    (if (sparkModules.isEmpty) pysparkJars.value
     else update.value.select(configurationFilter(SparkJars.name))),
  Compile / unmanagedJars := Attributed.blankSeq(compileJars.value),
  Test / unmanagedJars := Attributed.blankSeq(compileJars.value),
  Runtime / fullClasspath :=
    running((Runtime / fullClasspath).value, compileJars.value, pysparkJars.value),
  Test / fullClasspath :=
    running((Test / fullClasspath).value, compileJars.value, pysparkJars.value),
  // What `build/test-comet` tests beside.
  Test / fullClasspath ++= Attributed.blankSeq(
    sys.env.get("FIRESTEEL_TEST_COMET_JARS").toSeq.flatMap(folder => (file(folder) * "*.jar").get)),
  scalacOptions ++= Seq(
    "-release:17",
    "-deprecation",
    "-feature",
    "-unchecked",
    "-Xlint:_,-missing-interpolator",
    "-Wunused:_",
    "-Wdead-code",
    "-Wvalue-discard",
    "-Werror"),
  javacOptions ++= Seq("--release", "17"),
  libraryDependencies ++= Seq(scalatest % Test, scalacheck % Test),
  Test / fork := true,
  Test / baseDirectory := (ThisBuild / baseDirectory).value,
  Test / javaOptions ++= sparkJavaOptions,
  Test / javaOptions += s"-Dfiresteel.test.python=${SparkVersion.venv}/bin/python",
  Test / testOptions += Tests.Argument(TestFrameworks.ScalaTest, "-oDF", "-W", "30", "30"),
  Test / testOptions ++= shortTests
) ++ formatAll(Compile, "src") ++ formatAll(Test, "test")

/**
 * `make test` leaves out the tests of `tests/slow.txt`, and `make test-slow` runs them alone. Only
 * `make test-long` has those named long.
 */
lazy val shortTests: Seq[TestOption] = {
  def tagged(how: String, tag: String): TestOption =
    Tests.Argument(TestFrameworks.ScalaTest, how, s"io.firesteel.testkit.$tag")
  if (sys.env.contains("FIRESTEEL_TEST_LONG")) Nil
  else if (sys.env.contains("FIRESTEEL_TEST_FAST")) Seq("LongTest", "SlowTest").map(tagged("-l", _))
  else if (sys.env.contains("FIRESTEEL_TEST_SLOW"))
    Seq(tagged("-n", "SlowTest"), tagged("-l", "LongTest"))
  else Seq(tagged("-l", "LongTest"))
}

/**
 * What Spark's own launcher passes to a JVM of 17 or newer, and the first compiler alone: most code
 * of a test runs a few times, so that the second compiler costs more than it saves.
 */
lazy val sparkJavaOptions = Seq(
  "-Xmx3g",
  "-XX:TieredStopAtLevel=1",
  "-XX:+UseSerialGC",
  "-XX:ReservedCodeCacheSize=256m", // with the first compiler alone it would be 48 MB
  "-XX:+IgnoreUnrecognizedVMOptions",
  "-Dio.netty.tryReflectionSetAccessible=true",
  "-Dio.netty.allocator.type=pooled",
  "-Djdk.reflect.useDirectMethodHandle=false",
  "--enable-native-access=ALL-UNNAMED"
) ++
  Seq(
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar"
  ).map(p => s"--add-opens=java.base/$p=ALL-UNNAMED")

def module(name: String): Project = Project(name, file(s"scala/$name")).settings(common)

lazy val bridge = module("bridge")
lazy val core = module("core").dependsOn(bridge).settings(libraryDependencies += caffeine)

/** Fewer system calls for checkpoints on a local disk; no room, and no rule of a plan. */
lazy val checkpoint = module("checkpoint").dependsOn(bridge)

lazy val testkit = module("testkit")
  .dependsOn(core, checkpoint)
  .settings(libraryDependencies ++= Seq(scalatest, scalacheck))

/** Each folder with a `<Room>Room.scala`. */
lazy val roomNames: Seq[String] =
  (file("scala") * "*" / "src" * "*Room.scala").get
    .map(_.getParentFile.getParentFile.getName)
    .sorted

/** A room sees `core` alone, and is tested with `testkit`; libraries are in its own `build.sbt`. */
lazy val rooms = new CompositeProject {
  override val componentProjects: Seq[Project] =
    roomNames.map(name => module(name).dependsOn(core, testkit % Test))
}

def room(name: String): ProjectReference = LocalProject(name)

lazy val extension = module("extension")
  .dependsOn(roomNames.map(name => room(name): ClasspathDep[ProjectReference]): _*)
  .dependsOn(checkpoint, testkit % Test)
  .settings(
    Compile / resourceGenerators += Def.task {
      val file = (Compile / resourceManaged).value / "firesteel-version.txt"
      IO.write(file, version.value)
      Seq(file)
    }.taskValue,
    // Of Java, and constant: it must load on whatever Spark the jar was given to.
    Compile / sourceGenerators += Def.task {
      val file = (Compile / sourceManaged).value / "BuiltFor.java"
      IO.write(
        file,
        s"""package io.firesteel.extension;
           |
           |/** The line of Spark versions that this jar was built and tested for. */
           |final class BuiltFor {
           |  static final String SPARK = "${SparkVersion.current}";
           |}
           |""".stripMargin
      )
      Seq(file)
    }.taskValue,
    assembly / assemblyJarName := s"firesteel-${SparkVersion.current}.jar",
    // Spark's and Scala's classes are there already; everything else is ours or relocated.
    assembly / assemblyPackageScala / assembleArtifact := false,
    assembly / fullClasspath :=
      ((Runtime / exportedProducts).value ++ (Runtime / dependencyClasspath).value)
        .filterNot(jar => compileJars.value.contains(jar.data)),
    assembly / assemblyShadeRules := Shading.rules,
    // Several libraries have one, and it says nothing about a jar of all of them.
    assembly / assemblyMergeStrategy := {
      case path if path.endsWith("module-info.class") => MergeStrategy.discard
      case ErrorConditions.file => ErrorConditions.merged
      case path => MergeStrategy.defaultMergeStrategy(path)
    },
    assembly / packageOptions += Package.ManifestAttributes(
      "Implementation-Version" -> version.value),
    stageJar := {
      val jar = assembly.value
      val staged = (ThisBuild / baseDirectory).value / "python/src/firesteel/jars" / jar.getName
      StoredJar.write(jar, staged)
      streams.value.log.info(s"staged $staged")
      staged
    }
  )

/** Projects whose classes are in the jar. */
lazy val inJar = ScopeFilter(
  inProjects(Seq(bridge, core, checkpoint, extension).map(p => p: ProjectReference): _*) ||
    inProjects(roomNames.map(room): _*),
  inConfigurations(Compile))

/**
 * The jar for Maven, `io.firesteel:firesteel-spark_4.1_2.13`, as `--packages` resolves it, with its
 * sources and Scaladoc. It has no dependencies: Spark is there, and all else is in the jar.
 */
lazy val artifact = Project("artifact", file("scala/extension/artifact"))
  .settings(
    target := file("target") / s"artifact-${SparkVersion.current}",
    moduleName := s"firesteel-spark_${SparkVersion.current}",
    description := "What Flink's SQL planner does, for stock Apache Spark " + SparkVersion.current,
    licenses := Seq(License.Apache2),
    autoScalaLibrary := false,
    Compile / packageBin := (extension / assembly).value,
    Compile / packageSrc / mappings := Sources.byPackage(unmanagedSources.all(inJar).value.flatten),
    Compile / doc / sources := unmanagedSources.all(inJar).value.flatten,
    Compile / doc / dependencyClasspath := (extension / Compile / fullClasspath).value,
    Compile / doc / scalacOptions := Seq("-doc-title", "firesteel", "-no-link-warnings"),
    publishTo := Some(MavenCache("dist", (ThisBuild / baseDirectory).value / "dist/maven"))
  )

/** Jars that are read and never on a class path: the classes of one are those of an older Spark. */
lazy val Queries = config("queries").hide

/** Files of Spark's test jar that match `entries`, unpacked into `folder`. */
def ofSparksTests(entries: String, folder: SettingKey[File]) = Def.task {
  val made = folder.value
  val jar = update.value.select(configurationFilter(Queries.name)).head
  // Once per version, not at each compilation: the jar has thousands of entries.
  val unpacked = made / s"${jar.getName}.${entries.hashCode.toHexString}"
  if (!unpacked.exists) {
    IO.delete(made)
    IO.unzip(jar, made, (entry: String) => entry.matches(entries))
    IO.touch(unpacked)
  }
  (made ** "*.*").get.filter(file => file.isFile && file != unpacked)
}

/** Whole queries against golden plans: what no single room can show. */
lazy val queries = Project("queries", file("tests/scala"))
  .dependsOn(
    extension,
    testkit % Test,
    room("changelog") % "test->test",
    room("lookup") % "test->test")
  .settings(
    common,
    ivyConfigurations += Queries,
    libraryDependencies += sparksTests % Queries,
    Test / scalaSource := baseDirectory.value,
    Test / resourceGenerators +=
      ofSparksTests(
        "sql-tests/inputs/.*\\.sql|test-data/postgresql/.*",
        Test / resourceManaged).taskValue
  )

lazy val bench = module("bench")
  .dependsOn(extension, testkit % Test)
  .settings(
    ivyConfigurations += Queries,
    libraryDependencies ++= Seq(postgresql, tpcdsData, tpchData, sparksTests % Queries),
    Compile / resourceGenerators +=
      ofSparksTests("tpc(ds|h)/[^/]+\\.sql", Compile / resourceManaged).taskValue
  )

lazy val stageJar = taskKey[File]("builds the jar and puts it into the Python package")

lazy val root = project
  .in(file("."))
  .aggregate(Seq(bridge, core, checkpoint, testkit, extension, queries, bench).map(_.project): _*)
  .aggregate(roomNames.map(room): _*)
  .settings(publish / skip := true)

addCommandAlias(
  "reference",
  "extension/runMain io.firesteel.extension.Reference --write REFERENCE.md")
addCommandAlias(
  "check",
  "; scalafmtCheckAll; scalafmtSbtCheck; scalafixAll --check; Test / compile; " +
    "extension/runMain io.firesteel.extension.Reference --check REFERENCE.md"
)
