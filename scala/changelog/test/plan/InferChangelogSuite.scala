package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, AttributeReference, Descending, Expression, GreaterThan, Literal, NullsFirst, NullsLast, SortOrder}
import org.apache.spark.sql.catalyst.expressions.aggregate.{Count, DeclarativeAggregate, Max, Min, Sum}
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.types.{IntegerType, LongType, StringType}
import org.scalatest.funsuite.AnyFunSuite

/** Inference on plans alone: no session. */
class InferChangelogSuite extends AnyFunSuite {

  private val k = column("k")
  private val v = column("v")
  private val source = Source(LocalRelation(k, v))
  private val total = AttributeReference("total", LongType)()
  private val counted = GroupAggregate(Seq(k), Seq(Sum(v)), Seq(false), Seq(total), 0L, source)

  private def column(name: String): AttributeReference = AttributeReference(name, IntegerType)()

  private def countBy(key: Attribute, input: ChangelogOperator): GroupAggregate =
    GroupAggregate(Seq(key), Seq(Count(Nil)), Seq(false), Seq(column("n")), 0L, input)

  private def above(e: Expression): Expression = GreaterThan(e, Literal(1))

  private def mode(op: ChangelogOperator, updateBefore: Boolean = true): String =
    InferChangelog(op, updateBefore).mode

  private def first(n: Int, rank: Option[Attribute], input: ChangelogOperator): TopN =
    TopN(
      Seq(k),
      Seq(SortOrder(v, Ascending)),
      PlaceFunction.RowNumber,
      1,
      n.toLong,
      rank,
      0L,
      input)

  test("a source only grows") {
    assert(mode(source) == "[I]")
  }

  private val op = AttributeReference("op", StringType)()
  private val told = Source(LocalRelation(k, v, op))
  private val upserts = Normalize(op, Seq(k), Nil, None, 0L, told)

  test("a source of whole rows that come and go has no updates, whoever wants them") {
    val changes = SourceChanges(op, told)
    assert(changes.output == Seq(k, v) && mode(changes) == "[I,D]")
    assert(mode(Selection(above(v), changes)) == "[I,D]")
    assert(mode(countBy(v, changes)) == "[I,UB,UA,D]")
  }

  test("a source of upserts tells what it replaces where something needs it") {
    assert(upserts.facts.upsertKeys == Set(Set(k.exprId)))
    assert(mode(upserts, updateBefore = false) == "[I,UA,D]")
    assert(mode(Selection(above(k), upserts), updateBefore = false) == "[I,UA,D]")
    val onValue = InferChangelog(Selection(above(v), upserts), updateBefore = false)
    assert(onValue.inputs.head.mode == "[I,UB,UA,D]")
    assert(InferChangelog(countBy(v, upserts), updateBefore = false).inputs.head.updateBefore)
  }

  test("of a source of upserts only what is read is kept, its keys and its sequence") {
    val other = column("other")
    val wide = Normalize(op, Seq(k), Seq(v), None, 0L, Source(LocalRelation(k, v, other, op)))
    val pruned = PruneColumns(Projection(Seq(k), wide))
    assert(pruned.inputs.head.output == Seq(k, v))
  }

  test("an aggregate of rows that come updates, and never deletes") {
    assert(mode(counted) == "[I,UB,UA]")
    assert(mode(counted, updateBefore = false) == "[I,UA]")
    assert(counted.facts.upsertKeys == Set(Set(k.exprId)))
  }

  test("an aggregate of an aggregate deletes, and needs to know what is replaced") {
    val inferred = InferChangelog(countBy(total, counted), updateBefore = false)
    assert(inferred.mode == "[I,UA,D]")
    assert(inferred.inputs.head.mode == "[I,UB,UA]")
  }

  test("an aggregate without keys has one row, which is never deleted") {
    val all = GroupAggregate(Nil, Seq(Count(Nil)), Seq(false), Seq(column("n")), 0L, counted)
    assert(mode(all) == "[I,UB,UA]")
    assert(all.facts.upsertKeys == Set(Set.empty))
  }

  test("SELECT DISTINCT of rows that come is rows that come") {
    assert(mode(GroupAggregate(Seq(k, v), Nil, Nil, Nil, 0L, source)) == "[I]")
  }

  test("a filter on the key lets updates through without their first side") {
    assert(mode(Selection(above(k), counted), updateBefore = false) == "[I,UA]")
  }

  test("a filter on a result needs both sides of an update, and makes deletions") {
    val inferred = InferChangelog(Selection(above(total), counted), updateBefore = false)
    assert(inferred.changes == Changes.All && inferred.inputs.head.updateBefore)
  }

  test("a projection keeps an upsert key under its new names, or loses it") {
    import org.apache.spark.sql.catalyst.expressions.Alias
    val renamed = Alias(k, "key")()
    assert(Projection(Seq(renamed, total), counted).facts.upsertKeys ==
      Set(Set(renamed.exprId)))
    assert(Projection(Seq(total), counted).facts.upsertKeys.isEmpty)
  }

  test("a Top-N with its numbers replaces rows, one without them adds and deletes") {
    val rank = column("rn")
    assert(mode(first(3, Some(rank), source)) == "[I,UB,UA]")
    assert(first(3, Some(rank), source).facts.upsertKeys ==
      Set(Set(k.exprId, rank.exprId)))
    assert(mode(first(3, None, source)) == "[I,D]")
  }

  test("the first row of a partition is replaced, whatever the order: it may yet be displaced") {
    assert(mode(first(1, None, source)) == "[I,UB,UA]")
    assert(first(1, None, source).facts.upsertKeys == Set(Set(k.exprId)))
  }

  test("a Top-N of a changelog deletes, since any row may come after a row that goes") {
    val byTotal = TopN(
      Seq(k),
      Seq(SortOrder(total, Ascending)),
      PlaceFunction.RowNumber,
      1,
      1,
      None,
      0L,
      counted.copy(keys = Seq(k, v)))
    assert(mode(byTotal) == "[I,UB,UA,D]")
    assert(InferChangelog(byTotal, updateBefore = false).inputs.head.mode == "[I,UB,UA]")
  }

  private def topOf(function: DeclarativeAggregate, order: Attribute => SortOrder): TopN = {
    val result = AttributeReference("result", LongType, function.nullable)()
    val grouped = GroupAggregate(Seq(k, v), Seq(function), Seq(false), Seq(result), 0L, source)
    TopN(Seq(k), Seq(order(result)), PlaceFunction.RowNumber, 1, 3, Some(column("rn")), 0L, grouped)
  }

  private def strategy(topN: TopN): String =
    topN.strategy(topN.input.facts).name

  test("rows that only get better need neither what they replace nor what is beyond") {
    val most = topOf(Count(Nil), SortOrder(_, Descending))
    assert(strategy(most) == "UpdateFast")
    assert(InferChangelog(most, updateBefore = true).mode == "[I,UB,UA]")
    assert(InferChangelog(most, updateBefore = true).inputs.head.mode == "[I,UA]")
    assert(strategy(topOf(Max(v), SortOrder(_, Descending))) == "UpdateFast")
    assert(strategy(topOf(Min(v), SortOrder(_, Ascending, NullsLast, Nil))) == "UpdateFast")
    assert(strategy(topOf(Count(Nil), _ => SortOrder(v, Descending))) == "UpdateFast")
  }

  test("rows that may get worse are taken back") {
    assert(strategy(topOf(Count(Nil), SortOrder(_, Ascending))) == "Retract")
    assert(strategy(topOf(Sum(v), SortOrder(_, Descending))) == "Retract")
    // A group without a value comes first, until it has one.
    assert(strategy(topOf(Min(v), SortOrder(_, Ascending))) == "Retract")
    assert(strategy(topOf(Max(v), SortOrder(_, Descending, NullsFirst, Nil))) == "Retract")
    val most = topOf(Count(Nil), SortOrder(_, Descending))
    // Without the partition in its key a row may move from one to another.
    assert(strategy(most.copy(partition = Seq(column("other")))) == "Retract")
    val emptied = Selection(above(most.input.output.last), most.input)
    assert(strategy(most.copy(input = emptied)) == "Retract")
  }

  test("a union changes as its inputs do, and nothing identifies its rows") {
    val union = UnionAll(Seq(counted, Projection(counted.output, source)), counted.output)
    assert(mode(union) == "[I,UB,UA]")
    assert(union.facts.upsertKeys.isEmpty)
    assert(mode(union, updateBefore = false) == "[I,UA]")
  }

  test("columns that nothing reads are not computed") {
    val pruned = PruneColumns(Projection(Seq(k), counted))
    assert(pruned.inputs.head.asInstanceOf[GroupAggregate].functions.isEmpty)
    val unranked = PruneColumns(Projection(Seq(k, v), first(3, Some(column("rn")), source)))
    assert(unranked.inputs.head.asInstanceOf[TopN].rank.isEmpty)
  }
}
