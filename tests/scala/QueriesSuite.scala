package io.firesteel.tests

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._

import io.firesteel.FiresteelExtensions
import io.firesteel.core.Explain
import io.firesteel.testkit.{GoldenPlan, RoomSuite}
import org.apache.spark.sql.SparkSessionExtensions
import org.apache.spark.sql.internal.SQLConf

/**
 * Every `tests/queries/<room>/<name>.sql`: Spark's answer, the outcome its header expects, and the plan of
 * `tests/plans/<room>/<name>.txt`.
 *
 * The header is lines of comment: `-- expect: PlanTopN` names rules that fire, `-- expect: declines
 * RANK.NO_UPPER_BOUND` reasons; `-- set: key=value` a setting.
 */
class QueriesSuite extends RoomSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit =
    new FiresteelExtensions().apply(extensions)

  override protected def settings: Map[String, String] =
    Map(SQLConf.ADAPTIVE_EXECUTION_ENABLED.key -> "false")

  private val root = Path.of("tests")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    spark
      .range(0, 5000, 1, 3)
      .selectExpr(
        "CAST(id % 17 AS INT) AS k",
        "CAST(id % 5 AS STRING) AS g",
        "(id * 7919) % 5003 AS v",
        "IF(id % 11 = 0, NULL, CAST(id % 13 AS DOUBLE)) AS d",
        "id")
      .createOrReplaceTempView("events")
  }

  private def files: Seq[Path] = {
    val walk = Files.walk(root.resolve("queries"))
    try walk.iterator().asScala.filter(_.toString.endsWith(".sql")).toSeq.sortBy(_.toString)
    finally walk.close()
  }

  test("there are cases to run") {
    assert(files.nonEmpty)
  }

  files.foreach { file =>
    val room = file.getParent.getFileName.toString
    val name = file.getFileName.toString.stripSuffix(".sql")
    test(s"$room: $name") {
      val lines = Files.readString(file, UTF_8).linesIterator.toSeq
      val header = lines.filter(_.startsWith("-- ")).map(_.drop(3))
      val sql = lines.filterNot(_.startsWith("--")).mkString("\n").trim
      val sets = header.collect { case s"set: $key=$value" => key -> value }
      val expected = header.collect { case s"expect: $outcome" => outcome }
      withConf(sets: _*) {
        val explained = Explain.of(executed(spark.sql(sql)))
        val outcomes =
          explained.fired.map(_.rule) ++ explained.declined.map(d => s"declines ${d.why.code}")
        assert(outcomes.distinct.sorted == expected.sorted)
        assertSameAnswer(sql)
        val theirs = GoldenPlan.normalised(stock(executed(spark.sql(sql))))
        val ours = GoldenPlan.normalised(executed(spark.sql(sql)))
        GoldenPlan.assertEquals(
          root.resolve(s"plans/$room/$name.txt"),
          s"$sql\n\n== ours ==\n$ours\n\n== Spark's ==\n$theirs\n")
      }
    }
  }
}
