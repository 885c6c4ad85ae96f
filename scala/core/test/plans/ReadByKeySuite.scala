package io.firesteel.core.plans

import io.firesteel.core.plans.PlanStubs.{Leaf, column}
import org.apache.spark.sql.catalyst.expressions.{Attribute, IsNotNull, Literal}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LeafNode, Limit, LogicalPlan, Project, SubqueryAlias, Union}
import org.scalatest.funsuite.AnyFunSuite

/** Relations that a join reads by key, below projections, filters and names. */
class ReadByKeySuite extends AnyFunSuite {
  import ReadByKeySuite.ByKey

  private val relation = ByKey("as hinted")

  private def above(plan: LogicalPlan): LogicalPlan =
    SubqueryAlias("t", Project(Seq(column), Filter(IsNotNull(column), plan)))

  test("below projections, filters and names it is such a relation, and below nothing else") {
    assert(ReadByKey.isBelow(relation) && ReadByKey.isBelow(above(above(relation))))
    assert(!ReadByKey.isBelow(Leaf("other")) && !ReadByKey.isBelow(above(Leaf("other"))))
    assert(!ReadByKey.isBelow(Limit(Literal(1), relation)))
    assert(!ReadByKey.isBelow(Union(Seq(relation, relation))))
  }

  test("each of a plan's relations is read in place, wherever it is") {
    val plan = Union(Seq(above(relation), Limit(Literal(1), relation), Leaf("other")))
    assert(ReadByKey.inPlace(plan, "for their order").collect { case ByKey(asked) => asked } ==
      Seq.fill(2)("for their order"))
    assert(ReadByKey.inPlace(Leaf("other"), "why") == Leaf("other"))
  }
}

private object ReadByKeySuite {
  final case class ByKey(asked: String) extends LeafNode with ReadByKey {
    override def output: Seq[Attribute] = Seq(column)
    override def inPlace(why: String): LogicalPlan = copy(asked = why)
  }
}
