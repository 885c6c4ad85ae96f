package io.firesteel.changelog.topn

import io.firesteel.changelog.RandomRows
import io.firesteel.changelog.plan.{PlaceFunction, Places}
import io.firesteel.changelog.state.FoldedChanges
import io.firesteel.changelog.state.RowsOperator.row
import io.firesteel.testkit.TimedSuite

import scala.util.Random

import org.apache.spark.sql.catalyst.expressions.{Ascending, Attribute, Descending, NullsFirst, NullsLast, SortOrder}
import org.apache.spark.sql.types.StructType

/** Top-N by each of its strategies, against sorting and taking. */
class TopNRowsSuite extends TimedSuite {

  private val schema = StructType.fromDDL("p STRING, id BIGINT, o DOUBLE")

  private def byO(descending: Boolean)(columns: Seq[Attribute]): Seq[SortOrder] = Seq(
    if (descending) SortOrder(columns(2), Descending, NullsLast, Nil)
    else SortOrder(columns(2), Ascending, NullsFirst, Nil))

  /** The same order of rows in Scala's values: NaN is the largest, null the smallest. */
  private def ordering(descending: Boolean): Ordering[Seq[Any]] = {
    val ascending: Ordering[Seq[Any]] = (a, b) =>
      (a(2), b(2)) match {
        case (null, null) => 0
        case (null, _) => -1
        case (_, null) => 1
        case (x: Double, y: Double) => java.lang.Double.compare(x, y)
        case other => fail(other.toString)
      }
    if (descending) ascending.reverse else ascending
  }

  private def someRow(ids: Int)(random: Random): Seq[Any] = {
    val o = random.nextInt(10) match {
      case 0 => null
      case 1 => Double.NaN
      case n => n / 2.0
    }
    Seq(
      if (random.nextInt(8) == 0) null else "p" * random.nextInt(4),
      random.nextInt(ids).toLong,
      o)
  }

  /** Of ROW_NUMBER any of the rows that tie may be there, so that ids are left out. */
  private def check(of: RowsTopN, descending: Boolean)(
      table: Seq[Seq[Any]],
      live: Seq[Seq[Any]]): Unit = {
    val exact = of.places.function != PlaceFunction.RowNumber
    def comparable(row: Seq[Any]) = if (exact) row else row.updated(1, null)
    val expected = live.groupBy(_.head).values.toSeq
      .flatMap(RowsTopN.expected(_, of.places)(ordering(descending)))
      .map { case (row, place) => if (of.places.shown) row :+ place.toInt else row }
    assert(FoldedChanges.bag(table.map(comparable)) == FoldedChanges.bag(expected.map(comparable)))
    val there = FoldedChanges.bag(live)
    FoldedChanges.bag(table.map(_.take(3))).foreach { case (row, n) =>
      assert(there.getOrElse(row, 0) >= n, s"$row is not in the input so often")
    }
  }

  private def places(function: PlaceFunction, from: Long, to: Long, shown: Boolean) =
    Places(function, from, to, shown)

  private val all: Seq[Places] = {
    val functions = Seq(PlaceFunction.RowNumber, PlaceFunction.Rank, PlaceFunction.DenseRank)
    val ranges = Seq((1L, 3L), (1L, 1L), (2L, 4L), (1L, 200L))
    val some = for (f <- functions; ((from, to), i) <- ranges.zipWithIndex)
      yield places(f, from, to, shown = i % 2 == functions.indexOf(f) % 2)
    // A place of one row, shown or not.
    some ++ Seq(
      places(PlaceFunction.RowNumber, 1, 1, shown = true),
      places(PlaceFunction.RowNumber, 2, 2, shown = false),
      places(PlaceFunction.RowNumber, 2, 4, shown = false))
  }

  private val manyLimits = Seq((Int.MaxValue, Int.MaxValue), (1, Int.MaxValue), (1, 1), (5, 3))

  /** A Top-N and whether it is descending: orders, contracts and limits alternate by number. */
  private def topN(at: Places, i: Int, retracting: Boolean): (RowsTopN, Boolean) = {
    val descending = i % 2 == 0
    val of = RowsTopN(
      schema,
      partition = 1,
      byO(descending),
      at,
      retracting,
      updateBefore = i % 3 > 0,
      limits = manyLimits(i % 4),
      isPartial = !retracting && i % 5 > 0)
    (of, descending)
  }

  /** A row that a `+U` replaces is found by its place, or there is one place. */
  private def newFolded(of: RowsTopN): FoldedChanges =
    new FoldedChanges(Option.when(of.places.byPlace && !of.updateBefore) { its =>
      if (of.places.from == of.places.to) its.take(1) else Seq(its.head, its.last)
    })

  private def follow(of: RowsTopN, descending: Boolean, rows: RandomRows, size: Int): Unit = {
    val (op, folded) = (of.operator(), newFolded(of))
    (1 to 6).foreach { batch =>
      val table = folded.add(op.run(rows.shuffled(size)))
      withClue(s"$of, micro-batch $batch: ")(check(of, descending)(table, rows.live.toSeq))
    }
    if (of.retracting) {
      val table = folded.add(op.run(rows.live.toSeq.map(_ -> "-D")))
      val _ = assert(table.isEmpty && op.store.size == 0)
    }
  }

  test("AppendFast: an append-only input") {
    all.zipWithIndex.foreach { case (at, i) =>
      val (of, descending) = topN(at, i, retracting = false)
      follow(of, descending, new RandomRows(new Random(i), someRow(20), gone = 0), size = 40)
    }
  }

  test(
    "AppendFast: with a time to live a partition's rows expire together, and places are those told") {
    val two = places(PlaceFunction.RowNumber, 1, 2, shown = true)
    val op = RowsTopN(schema, 1, byO(descending = true), two, retracting = false)
      .operator(ttlMs = 10000L)
    def at(ms: Long, id: Long, o: Double) = {
      op.nowMs = ms
      op.run(Seq(row("p", id, o) -> "+I")).map { case (its, kind) => (its(1), its.last, kind) }
    }
    at(0L, 1L, 10.0)
    at(6000L, 2L, 5.0)
    assert(at(12000L, 3L, 1.0).isEmpty)
    assert(at(13000L, 4L, 7.0) == Seq((2L, 2, "-U"), (4L, 2, "+U")))
    assert(at(20000L, 5L, 1.0).isEmpty)
    assert(at(23001L, 6L, 1.0) == Seq((6L, 1, "+I")))
  }

  test("Retract: an input with retractions") {
    all.zipWithIndex.foreach { case (at, i) =>
      val (of, descending) = topN(at, i, retracting = true)
      follow(of, descending, new RandomRows(new Random(i), someRow(20), 3 + i % 4), size = 60)
    }
  }

  test("Retract: of many rows of a partition the head is filled from the tail again and again") {
    val five = places(PlaceFunction.RowNumber, 1, 5, shown = true)
    val of = RowsTopN(schema, 1, byO(descending = false), five, retracting = true)
    val (op, folded) = (of.operator(), new FoldedChanges())
    val rows = (0 until 600).map(i => row("p", i.toLong, i.toDouble))
    var live = new Random(1).shuffle(rows)
    live.grouped(100).foreach(some => folded.add(op.run(some.map(_ -> "+I"))))
    assert(op.store.size > 500, "the tail has an entry for each row")
    // The best go first.
    rows.grouped(37).foreach { some =>
      live = live.diff(some)
      check(of, descending = false)(folded.add(op.run(some.map(_ -> "-D"))), live)
    }
    assert(op.store.size == 0)
  }

  test("UpdateFast: a row is replaced by one that comes no later in the order") {
    val some = all.filter(_.function != PlaceFunction.DenseRank)
    some.zipWithIndex.foreach { case (at, i) =>
      // Values rise: of a descending order they get no worse.
      val of = topN(at, i, retracting = false)._1
        .copy(order = byO(descending = true), rowKey = Seq(0, 1))
      val (op, folded, random) = (of.operator(), newFolded(of), new Random(i))
      var live = Map.empty[Seq[Any], Seq[Any]]
      (1 to 6).foreach { batch =>
        val changes = Seq.fill(20) {
          val key = row("p" * random.nextInt(2), random.nextInt(15).toLong)
          val before = live.get(key).fold(0.0)(_(2).asInstanceOf[Double])
          live += key -> (key :+ (before + random.nextInt(3)))
          live(key) -> "+I"
        }
        val table = folded.add(op.run(changes))
        withClue(s"$of, micro-batch $batch: ") {
          check(of, descending = true)(table, live.values.toSeq)
        }
      }
    }
  }

  test("where no row at a place changes nothing is emitted, and a debt has no place") {
    val two = places(PlaceFunction.RowNumber, 1, 2, shown = true)
    val op = RowsTopN(schema, 1, byO(descending = false), two, retracting = true).operator()
    val (its, debt) = (row("p", 1L, 1.5), row("p", 2L, 9.0))
    assert(op.run(Nil).isEmpty)
    assert(op.run(Seq(its -> "+I", its -> "-D")).isEmpty)
    assert(op.run(Seq(its -> "+I")) == Seq((its :+ 1) -> "+I"))
    assert(op.run(Seq(its -> "-D", its -> "+I")).isEmpty)
    assert(op.run(Seq(debt -> "-D")).isEmpty && op.run(Seq(debt -> "+I")).isEmpty)
  }
}
