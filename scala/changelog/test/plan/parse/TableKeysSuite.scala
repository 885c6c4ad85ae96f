package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.ChangelogSuite
import io.firesteel.changelog.plan.{ChangelogOperator, TableJoin}
import io.firesteel.changelog.state.BegunPlan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeReference, EqualTo, ExprId, Literal}
import org.apache.spark.sql.catalyst.expressions.aggregate.Count
import org.apache.spark.sql.catalyst.plans.Inner
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Join, JoinHint, LocalRelation, LogicalPlan}
import org.apache.spark.sql.types.LongType

/** By which of several keys state has the rows that are joined with a table. */
class TableKeysSuite extends ChangelogSuite {

  // As numbers these ids have one order, and as texts the other.
  private val (before, after) = (9999999999L, 10000000000L)

  private def column(name: String, id: Long) = AttributeReference(name, LongType)(ExprId(id))

  /** The key of a join of two counts, whose columns have these ids, with a table. */
  private def keyOf(left: Long, right: Long, version: Int): Seq[String] = {
    val (l, r, t) = (column("left", left), column("right", right), column("t", before - 1))
    def counts(key: Attribute) = Aggregate(
      Seq(key),
      Seq(key, Alias(Count(Literal(1)).toAggregateExpression(), "n")()),
      LocalRelation(Seq(key), Nil, isStreaming = true))
    def join(a: LogicalPlan, b: LogicalPlan, by: Attribute) =
      Join(a, b, Inner, Some(EqualTo(l, by)), JoinHint.NONE)
    val query = join(join(counts(l), counts(r), r), LocalRelation(t), t)
    val begun = BegunPlan.latest.copy(version = version)
    def key(operator: ChangelogOperator): Seq[String] = operator match {
      case table: TableJoin => table.key.map(_.name)
      case other => other.inputs.flatMap(key)
    }
    key(new ParseQuery(updateBefore = true, None, begun).read(query))
  }

  test("of two keys it is the same one at each start, whatever ids its columns get") {
    assert(keyOf(before, after, version = 13) == Seq("left"))
    assert(keyOf(after, before, version = 13) == Seq("left"))
    // A checkpoint of an earlier version has the one whose id is the first text.
    assert(keyOf(before, after, version = 12) == Seq("right"))
    assert(keyOf(after, before, version = 12) == Seq("left"))
  }
}
