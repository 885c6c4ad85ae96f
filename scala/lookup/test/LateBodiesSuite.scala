package io.firesteel.lookup

import org.apache.spark.sql.{AnalysisException, Row, SparkSessionExtensions}
import org.apache.spark.sql.catalyst.analysis.{CTESubstitution, UnresolvedRelation}
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.SparkSqlParser
import org.scalatest.BeforeAndAfterEach

/** Bodies of views that another extension puts in after the hint rules, as Iceberg does. */
class LateBodiesSuite extends LookupSuite with BeforeAndAfterEach {

  private val body =
    "SELECT /*+ LOOKUP('table'='c', 'async'='true') */ o.id, c.name FROM orders o JOIN mem.c AS c " +
      "ON o.id = c.id"

  override protected def beforeEach(): Unit = {
    super.beforeEach()
    store("c", table("id INT, name STRING", Row(1, "a"), Row(2, "b")))
    table("id INT, at TIMESTAMP", Row(1, null), Row(3, null)).createOrReplaceTempView("orders")
    LateBodies.texts = Map.empty
  }

  override protected def install(extensions: SparkSessionExtensions): Unit = {
    // A rule before ours, one after it, and one that comes too late.
    extensions.injectResolutionRule(_ => new LateBodies("before"))
    LookupRoom.install(extensions)
    extensions.injectResolutionRule(_ => new LateBodies("after"))
  }

  Seq("before", "after").foreach { place =>
    test(s"a hint in a body that comes $place our rule is taken") {
      Seq(
        body,
        body.replace("AS c ON", "ON"),
        body.replace("AS c ON", "ON").replace("'c'", "'mem.c'"),
        body.replace("AS c", "FOR SYSTEM_TIME AS OF o.at AS c"),
        s"WITH q AS ($body) SELECT id, name FROM q",
        s"SELECT * FROM ($body) WHERE id IN (SELECT id FROM orders)"
      ).foreach { text =>
        LateBodies.texts = Map(place -> text)
        val read = spark.sql("SELECT * FROM late_body")
        assertSameRows(read.collect().toSeq, Seq(Row(1, "a")), text)
        val plan = read.queryExecution.executedPlan.toString
        assert(plan.contains("LookupJoin") && plan.contains("async"), s"$text\n$plan")
      }
    }

    test(s"an error in a hint of a body that comes $place our rule is raised") {
      LateBodies.texts = Map(place -> body.replace("='c'", "='d'"))
      val error = intercept[AnalysisException](spark.sql("SELECT * FROM late_body"))
      assert(error.getCondition == "FIRESTEEL_LOOKUP_TABLE_NOT_JOINED")
    }

    test(s"switched off, a hint in a body that comes $place our rule is ignored") {
      LateBodies.texts = Map(place -> body.replace("mem.c", "c"))
      withConf("spark.firesteel.lookup.enabled" -> false) {
        assertSameRows(
          spark.sql("SELECT * FROM late_body").collect().toSeq,
          Seq(Row(1, "a")),
          "off")
      }
    }
  }

  test("a hint that no rule has taken is an error") {
    val plan = LateBodies.parser.parsePlan(body)
    val error = intercept[AnalysisException](RefuseUntakenHint(plan))
    assert(error.getCondition == "FIRESTEEL_LOOKUP_UNTAKEN_HINT")
    assert(error.getMessage.contains("LOOKUP((table = c), (async = true))"))
    val others = "SELECT /*+ BROADCAST(c) */ * FROM orders"
    val other = LateBodies.parser.parsePlan(others)
    assert(RefuseUntakenHint(other) eq other)
  }
}

private object LateBodies {

  def parser: ParserInterface = new LookupParser(new SparkSqlParser)

  /** What stands for the table `late_body`, by the place of the rule. */
  @volatile var texts: Map[String, String] = Map.empty
}

private final class LateBodies(place: String) extends Rule[LogicalPlan] {
  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    case relation: UnresolvedRelation
        if relation.multipartIdentifier == Seq("late_body") && LateBodies.texts.contains(place) =>
      // As Iceberg does: Spark's rule for CTEs does not run again.
      CTESubstitution(LateBodies.parser.parseQuery(LateBodies.texts(place)))
  }
}
