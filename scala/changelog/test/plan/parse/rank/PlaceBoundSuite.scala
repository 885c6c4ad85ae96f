package io.firesteel.changelog.plan.parse.rank

import io.firesteel.changelog.ChangelogSuite
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, Expression}
import org.apache.spark.sql.catalyst.optimizer.ConstantFolding
import org.apache.spark.sql.firesteel.executionOf

/** What conditions say of a place, checked on places one by one. */
class PlaceBoundSuite extends ChangelogSuite {

  private def read(text: String): (Expression, Attribute) = {
    val plan = executionOf(spark.sql(s"SELECT $text AS c FROM VALUES (1, 2) AS t(rn, v)")).analyzed
    val rn = plan.collectLeaves().head.output.head
    val folded = ConstantFolding(plan)
    (folded.expressions.head.children.head, rn)
  }

  private def passes(condition: Expression, rn: Attribute, place: Int): Boolean =
    BindReferences.bindReference(condition, Seq[Attribute](rn))
      .eval(InternalRow(place)) == true

  test("conditions of a place alone let pass what the range says, exactly or within it") {
    Seq(
      "rn IN (1, 2)" -> true,
      "rn IN (2, 1, 3, NULL)" -> true,
      "rn IN (1, 3)" -> false,
      "rn IN (2.0, 2.5)" -> true,
      "rn = 1 OR rn = 3" -> false,
      "rn = 2 OR rn = 1 OR rn = 3" -> false,
      "rn = 2 OR rn <= 1" -> true,
      "rn <= 2 OR rn >= 2 AND rn <= 4" -> true,
      "rn > 2 AND rn <= 3 OR rn = 4" -> true,
      "rn <= 3.0" -> true,
      "rn < 3.5D" -> true,
      "3.5F >= rn" -> true,
      "rn > 1.5 AND rn < 4.5" -> true,
      "rn = 2.5 OR rn = 2" -> true,
      "2.0 > rn" -> true
    ).foreach { case (text, isExact) =>
      val (condition, rn) = read(text)
      assert(condition.references.nonEmpty, text)
      val bound = PlaceBound.of(condition, rn)
      assert(bound.nonEmpty, text)
      assert(bound.get.isExact == isExact || !isExact, s"$text: $bound")
      (1 to 6).foreach { place =>
        val within = bound.get.from <= place && bound.get.to.forall(place <= _)
        val passed = passes(condition, rn, place)
        assert(
          if (bound.get.isExact) within == passed else within || !passed,
          s"$text at $place: $bound")
      }
    }
  }

  test("conditions that say nothing of a place") {
    Seq(
      "rn + 1 <= 3",
      "rn <= v",
      "rn <= 2 OR v = 1",
      "rn <> 2",
      "rn <= CAST('NaN' AS DOUBLE)",
      "CAST(CAST(rn AS BIGINT) AS TIMESTAMP) <= TIMESTAMP'1970-01-01 00:00:02'"
    ).foreach {
      text =>
        val (condition, rn) = read(text)
        assert(PlaceBound.of(condition, rn).isEmpty, text)
    }
  }
}
