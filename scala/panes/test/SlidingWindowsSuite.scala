package io.firesteel.panes

import io.firesteel.core.rows.{MemoryBudget, MergeableAggregates}
import io.firesteel.core.windows.PaneGrid
import io.firesteel.testkit.TimedSuite
import scala.util.Random

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.AttributeReference
import org.apache.spark.sql.catalyst.expressions.aggregate.{AggregateExpression, AggregateFunction, CollectList, Complete, Count, First, Max, Sum}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.LongType

/** Compares the sliding merge with one over each window's rows. Needs no session and no plan. */
class SlidingWindowsSuite extends TimedSuite {
  import SlidingWindowsSuite._

  private def windowsOf(
      grid: PaneGrid,
      rows: Seq[(Long, Long)],
      merge: SlidingMerge,
      aggregates: MergeableAggregates,
      wanted: Long => Boolean = _ => true,
      part: Int = Int.MaxValue): Seq[(Long, Seq[Any])] = {
    val windows = new SlidingWindows(grid, merge, wanted)
    val panes = new Panes(grid, rows, aggregates, part)
    val first = windows.begin(panes)
    Iterator
      .iterate(first)(_ => windows.next())
      .takeWhile(identity)
      .map(_ => windows.window -> values(windows.results))
      .toList
  }

  private def values(results: InternalRow): Seq[Any] = results.toSeq(types).map {
    case list: ArrayData => list.toLongArray().toSeq
    case other => other
  }

  private def plain(
      grid: PaneGrid,
      rows: Seq[(Long, Long)],
      wanted: Long => Boolean): Seq[(Long, Seq[Any])] = {
    val numbers = (-1000L to 1000L).filter(wanted)
    numbers.flatMap { window =>
      val start = grid.startOf(window)
      val in = rows.filter { case (time, _) => start <= time && time < start + grid.size }
      // In the order of panes, and within a pane in the order of rows.
      val byPane = in.sortBy { case (time, _) => grid.paneOf(time) }.map(_._2)
      if (in.isEmpty) None
      else Some(window -> Seq(
        byPane.length.toLong,
        byPane.sum,
        byPane.max,
        byPane.head,
        byPane))
    }
  }

  private def check(
      budget: () => MemoryBudget,
      seed: Int,
      part: Int = Int.MaxValue): Seq[SlidingMerge] = {
    val random = new Random(seed)
    (1 to 200).map { round =>
      val slide = 1L + random.nextInt(9)
      val grid = PaneGrid(
        slide + 1 + random.nextInt(60),
        slide,
        random.nextInt(slide.toInt).toLong)
      val spread = if (random.nextBoolean()) 100 else 1500
      val rows = Seq.fill(1 + random.nextInt(80))(
        (random.nextInt(spread) - spread / 2).toLong -> random.nextInt(100).toLong)
      val wanted: Long => Boolean =
        if (round % 3 == 0) window => window % 3 == 0 || window > 20 else _ => true
      val aggregates = newAggregates()
      val merge = new SlidingMerge(aggregates, budget())
      val found = windowsOf(grid, rows, merge, aggregates, wanted, part)
      assert(found == plain(grid, rows, wanted), s"round $round: $grid, $rows")
      merge
    }
  }

  test("finds every window with rows, and each has the results of its rows in their order") {
    check(() => new Budget(Long.MaxValue), 1)
  }

  test("without memory for steps, windows are merged from all panes, with the same results") {
    val merges = check(() => new Budget(0), 2)
    assert(merges.count(_.mergesAnew) > 100)
  }

  test("a pane may have several parts") {
    check(() => new Budget(Long.MaxValue), 3, part = 1)
    val merges = check(() => new Budget(0), 4, part = 2)
    assert(merges.count(_.mergesAnew) > 100)
  }

  test("parts of a pane are kept as one") {
    val aggregates = new MergeableAggregates(Seq(expression(Sum(column))), Seq(column))
    val held = new Budget(Long.MaxValue)
    val rows = Seq.fill(10000)(0L -> 1L)
    val windows =
      new SlidingWindows(PaneGrid(2, 1, 0), new SlidingMerge(aggregates, held), _ => true)
    assert(windows.begin(new Panes(PaneGrid(2, 1, 0), rows, aggregates, part = 1)))
    assert(windows.results.getLong(0) == 10000)
    assert(held.peak < 1000)
  }

  test("states that grow when merged are not kept in steps") {
    val aggregates = new MergeableAggregates(Seq(expression(CollectList(column))), Seq(column))
    val merge = new SlidingMerge(aggregates, new Budget(Long.MaxValue))
    val rows = (0L until 4000L).flatMap(t => Seq.fill(3)(t -> t))
    val found = new SlidingWindows(PaneGrid(1000, 1, 0), merge, _ => true)
    assert(found.begin(new Panes(PaneGrid(1000, 1, 0), rows, aggregates)))
    (1 to 1100).foreach(_ => assert(found.next()))
    assert(merge.mergesAnew)
    assert(merge.results.getArray(0).numElements() == 3000)
  }

  test("a window costs a few merges, for any number of panes") {
    def mergesPerWindow(size: Long): Double = {
      val aggregates = new MergeableAggregates(Seq(expression(Sum(column))), Seq(column))
      val merge = new SlidingMerge(aggregates, new Budget(Long.MaxValue))
      val rows = (0L until 20000L).map(t => t -> 1L)
      val grid = PaneGrid(size, 1, 0)
      val windows = new SlidingWindows(grid, merge, _ => true)
      var count = 1L
      assert(windows.begin(new Panes(grid, rows, aggregates)))
      while (windows.next()) count += 1
      merge.merges.toDouble / count
    }
    assert(mergesPerWindow(10) < 4)
    assert(mergesPerWindow(5000) < 4)
  }

  test("jumps over an empty gap of any length") {
    val aggregates = newAggregates()
    val merge = new SlidingMerge(aggregates, new Budget(Long.MaxValue))
    val far = Long.MaxValue / 2
    val found = windowsOf(PaneGrid(4, 2, 0), Seq(1L -> 1L, far -> 2L), merge, aggregates)
    assert(found.map(_._2.head) == Seq(1L, 1L, 1L, 1L))
  }
}

private object SlidingWindowsSuite {

  val column: AttributeReference = AttributeReference("v", LongType)()

  private val functions: Seq[AggregateFunction] =
    Seq(
      Count(column),
      Sum(column),
      Max(column),
      First(column, ignoreNulls = false),
      CollectList(column))

  private val types = functions.map(_.dataType)

  def expression(function: AggregateFunction): AggregateExpression =
    AggregateExpression(function, Complete, isDistinct = false)

  def newAggregates(): MergeableAggregates =
    new MergeableAggregates(functions.map(expression), Seq(column))

  /** Grants this number of bytes. */
  final class Budget(limit: Long) extends MemoryBudget {
    private var most = 0L
    override def hold(total: Long): Boolean = {
      if (total <= limit) most = math.max(most, total)
      total <= limit
    }
    override def releaseTo(total: Long): Unit = ()
    override def peak: Long = most
  }

  /** Makes panes with states from rows, each pane in parts of this number of rows. */
  final class Panes(
      grid: PaneGrid,
      rows: Seq[(Long, Long)],
      aggregates: MergeableAggregates,
      part: Int = Int.MaxValue)
    extends PaneCursor {

    private val panes = rows
      .groupBy { case (time, _) => grid.paneOf(time) }
      .toSeq
      .sortBy(_._1)
      .flatMap { case (pane, rows) => rows.grouped(part).map(pane -> _) }
      .map { case (pane, rows) =>
        val buffer = aggregates.newBuffer()
        rows.foreach { case (_, value) => aggregates.update(buffer, InternalRow(value)) }
        pane -> aggregates.state(buffer).copy()
      }
      .toArray
    private var at = 0

    override def hasPane: Boolean = at < panes.length
    override def pane: Long = panes(at)._1
    override def state: InternalRow = panes(at)._2
    override def advance(): Unit = at += 1
  }
}
