package io.firesteel.core.plans

import io.firesteel.core.plans.PlanStubs.{GrowingExec, Leaf, LeafExec, OtherShuffle, PlainExec, column, linked}
import org.apache.spark.sql.catalyst.plans.physical.{HashPartitioning, SinglePartition}
import org.apache.spark.sql.execution.{SparkPlan, UnionExec}
import org.apache.spark.sql.execution.exchange.{REPARTITION_BY_COL, ShuffleExchangeExec, ShuffleExchangeLike}
import org.scalatest.funsuite.AnyFunSuite

/** The exchanges that are marked as growing, on plans only. */
class MarkGrowingShufflesSuite extends AnyFunSuite {

  private val (node, below) = (Leaf("node"), Leaf("below"))

  private def shuffle(input: SparkPlan): ShuffleExchangeExec =
    ShuffleExchangeExec(HashPartitioning(Seq(column), 3), input, REPARTITION_BY_COL, Some(5L))

  private def leaf(of: Leaf): SparkPlan = linked(LeafExec(of.name), of)

  private def marks(plan: SparkPlan): Seq[Boolean] =
    MarkGrowingShuffles(plan).collect { case exchange: ShuffleExchangeLike =>
      exchange.isInstanceOf[GrowingShuffle]
    }

  /** Adds an exchange as Spark does: after operators have their links. */
  private def over(planned: SparkPlan, input: SparkPlan): SparkPlan =
    planned.withNewChildren(Seq(input))

  private def growing(input: SparkPlan): SparkPlan =
    over(linked(GrowingExec(4, leaf(node)), node), input)

  private def plain(input: SparkPlan, of: Leaf): SparkPlan =
    over(linked(PlainExec(leaf(of)), of), input)

  test(
    "an exchange below an operator that grows rows, of one logical node with it, is marked") {
    assert(marks(growing(shuffle(leaf(node)))) == Seq(true))
    assert(marks(growing(plain(shuffle(leaf(node)), node))) == Seq(true))
    assert(
      marks(growing(PlainExec(shuffle(leaf(node))))) == Seq(true),
      "the first link below counts")
  }

  test("an exchange of another logical node, or above, or under several inputs, stays") {
    assert(marks(growing(shuffle(leaf(below)))) == Seq(false))
    assert(marks(shuffle(growing(leaf(node)))) == Seq(false))
    assert(marks(growing(plain(shuffle(leaf(node)), below))) == Seq(false))
    assert(marks(growing(UnionExec(Seq(shuffle(leaf(node)), leaf(node))))) == Seq(false))
    assert(marks(PlainExec(shuffle(leaf(node)))) == Seq(false))
  }

  test("an operator without a logical node stays as it is") {
    assert(marks(GrowingExec(4, shuffle(LeafExec("none")))) == Seq(false))
  }

  test("the upper one of two exchanges below one another is marked") {
    assert(marks(growing(shuffle(shuffle(leaf(node))))) == Seq(true, false))
  }

  test("a second run changes nothing") {
    val once = MarkGrowingShuffles(growing(shuffle(leaf(node))))
    assert(MarkGrowingShuffles(once).fastEquals(once))
  }

  test("except for its statistics it equals the original exchange") {
    val before = linked(shuffle(leaf(node)), node)
    val after = GrowingShuffle.of(before, growth = 4)
    assert(after.outputPartitioning == before.outputPartitioning && after.child == before.child)
    assert(after.shuffleOrigin == before.shuffleOrigin)
    assert(after.advisoryPartitionSize == before.advisoryPartitionSize)
    assert(after.logicalLink == before.logicalLink && after.nodeName == before.nodeName)
    assert(after.simpleString(25) == before.simpleString(25))
  }

  test("an exchange of an extension's own class is marked, and no rule takes it for Spark's") {
    val other = OtherShuffle(shuffle(leaf(node)))
    val marked =
      MarkGrowingShuffles(growing(other)).collectFirst { case e: ShuffleExchangeLike => e }.get
    assert(marked == GrowingShuffle.of(other, 4))
    assert(!marked.isInstanceOf[ShuffleExchangeExec])
  }

  test("it equals one of the same growth, also with a new child") {
    val plain = shuffle(leaf(node))
    val (four, five) = (GrowingShuffle.of(plain, 4), GrowingShuffle.of(plain, 5))
    assert(four == GrowingShuffle.of(plain, 4) && four.hashCode == GrowingShuffle.of(
      plain,
      4).hashCode)
    assert(four != five)
    val other = four.withNewChildren(Seq(leaf(below)))
    assert(other.isInstanceOf[GrowingShuffle] && other == GrowingShuffle.of(
      shuffle(leaf(below)),
      4))
    assert(four.clone() == four && four.clone().isInstanceOf[GrowingShuffle])
    assert(four.outputPartitioning != SinglePartition)
  }
}
