package io.firesteel.tests

import io.firesteel.FiresteelExtensions
import io.firesteel.changelog.ChangelogSuite
import io.firesteel.changelog.rules.ExplainStream
import io.firesteel.core.decide.Explain
import io.firesteel.testkit.GoldenPlan
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.{Encoders, Row, SparkSessionExtensions}
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.firesteel.streaming.memoryStream
import org.apache.spark.sql.streaming.OutputMode
import org.apache.spark.sql.types.StructType

/**
 * Every `tests/queries/changelog/<name>.sql`: a query over the stream `events` follows the batch query,
 * micro-batch by micro-batch and over a restart, keeps the state that its header expects, and has its plan.
 *
 * `-- expect: TopN UpdateFast` names a stateful operator, from above down, with the strategy of one that
 * has several; `-- expect: refused FIRESTEEL_CHANGELOG_NOT_AN_UPSERT` an error at the start; nothing, that
 * the query is Spark's own. `-- mode: update` is an output mode, by default append.
 */
class StreamQueriesSuite extends ChangelogSuite {

  override protected def install(extensions: SparkSessionExtensions): Unit =
    new FiresteelExtensions().apply(extensions)

  private val schema = "k INT, g STRING, v BIGINT, d DOUBLE, id BIGINT"

  private val batches: Seq[Seq[Row]] =
    Seq(0 until 40, 40 until 41, 41 until 41, 41 until 120).map(_.map { id =>
      val d = if (id % 11 == 0) null else (id % 13).toDouble
      Row(id % 17, (id % 5).toString, (id * 7919L) % 53, d, id.toLong)
    })

  private val files = QueryFile.all.filter(_.room == "changelog")

  override protected def beforeAll(): Unit = {
    super.beforeAll()
    memoryStream[Row](spark)(Encoders.row(StructType.fromDDL(schema)))
      .toDF().createOrReplaceTempView("events")
  }

  private def explained(file: QueryFile): Either[String, Explain] = {
    val mode = Map(
      "append" -> OutputMode.Append(),
      "update" -> OutputMode.Update(),
      "complete" -> OutputMode.Complete())(file.mode)
    try Right(ExplainStream(spark, executionOf(spark.sql(file.sql)).analyzed, mode))
    catch { case refused: SparkThrowable => Left(refused.getCondition) }
  }

  private def outcomes(explained: Either[String, Explain]): Seq[String] = explained.fold(
    condition => Seq(s"refused $condition"),
    _.fired.map(f => (f.values("operator") +: f.values.get("strategy").toSeq).mkString(" ")))

  test("there are streams to run") {
    assert(files.nonEmpty)
  }

  files.foreach { file =>
    test(s"changelog: ${file.name}") {
      withConf(file.settings: _*) {
        val ours = explained(file)
        assert(outcomes(ours) == file.expected)
        ours.foreach { plan =>
          GoldenPlan.assertEquals(
            file.plan,
            s"${file.sql}\n\n== ${file.mode} mode ==\n${GoldenPlan.normalised(plan.plan)}\n")
          if (file.expected.nonEmpty && file.mode == "append") {
            assertFollows(
              schema,
              file.sql.replaceAll("\\bevents\\b", "{t}"),
              batches,
              restarts = Set(2))
          }
        }
      }
    }
  }
}
