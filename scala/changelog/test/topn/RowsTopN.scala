package io.firesteel.changelog.topn

import io.firesteel.changelog.fold.{BoundColumns, Granted}
import io.firesteel.changelog.plan.Places
import io.firesteel.changelog.state.{RowsOperator, StatefulTask}
import io.firesteel.core.rows.OrderPrefix
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, SortOrder, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.{ByteType, IntegerType, StructField, StructType}

/**
 * A Top-N on rows, whose first columns are the partition. The result has all columns, the place
 * where it is shown, and the kind.
 *
 * @param partition how many columns it has
 * @param rowKey columns that tell versions of a row apart; none where it has no versions
 * @param isPartial whether rows of two tasks are cut to each task's first ones, below
 */
final private[topn] case class RowsTopN(
    schema: StructType,
    partition: Int,
    order: Seq[Attribute] => Seq[SortOrder],
    places: Places,
    retracting: Boolean,
    rowKey: Seq[Int] = Nil,
    updateBefore: Boolean = true,
    limits: (Int, Int) = (Int.MaxValue, Int.MaxValue),
    isPartial: Boolean = false) {

  private val columns = schema.map(f => AttributeReference(f.name, f.dataType)())
  private val (of, others) = columns.splitAt(partition)
  private val kind = StructField("kind", ByteType)
  private val (place, kindOut) =
    (AttributeReference("place", IntegerType)(), AttributeReference("kind", ByteType)())

  val layout: TopNLayout = TopNLayout(of, others, places, order(columns), retracting)

  private val sortBy = BoundColumns.order(order(columns), columns)
  private def bound(some: Seq[Attribute]) = BoundColumns.of(some, columns)
  private def identity = RowIdentity.of(bound(rowKey.map(columns(_))))
  private def ranked(versions: RowIdentity) = new RankedRows(sortBy, places, versions)

  def operator(ttlMs: Long = 0L): RowsOperator = {
    val shown = columns ++ Option.when(places.shown)(place) :+ kindOut
    val task = StatefulTask.ofOne { (entries, _, rows) =>
      val limit = Granted.entries(limits._2)
      val output =
        new PlacedOutput(UnsafeProjection.create(shown, columns ++ Seq(place, kindOut)))
      val versions = identity
      val its = ranked(versions)
      val changes = new PlaceChanges(places, updateBefore, its)
      val read = if (isPartial) below(rows) else rows
      if (layout.isFirst) {
        val first = new FirstRows(bound(of), its, versions)
        new FinalFirst(read, limit, layout, first, updateBefore, output, entries)
      } else if (retracting) {
        new FinalRetract(read, limit, layout, columns.size, its, changes, output, entries)
      } else new FinalTopN(read, limit, layout, its, versions, changes, output, entries)
    }
    new RowsOperator(
      layout.state,
      task,
      Seq(StructType(schema ++ Option.when(retracting)(kind))),
      StructType(schema ++ Option.when(places.shown)(StructField("place", IntegerType)) :+ kind),
      ttlMs
    )
  }

  /** What two tasks emit, each of its own rows. Versions of a row come from one task. */
  private def below(rows: Iterator[InternalRow]): Iterator[InternalRow] = {
    val identifying = if (rowKey.isEmpty) columns else rowKey.map(columns(_))
    val toKey = UnsafeProjection.create(bound(identifying))
    val (left, right) = rows.map(_.copy()).toSeq.partition(toKey(_).hashCode % 2 == 0)
    partial(inOneBuffer(left)) ++ partial(inOneBuffer(right))
  }

  private def inOneBuffer(rows: Seq[InternalRow]): Iterator[UnsafeRow] = {
    val toRow = UnsafeProjection.create(bound(columns))
    rows.iterator.map(toRow(_))
  }

  private def partial(rows: Iterator[UnsafeRow]): Iterator[InternalRow] = {
    val versions = identity
    if (places.isFirst) {
      val first = new FirstRows(bound(of), ranked(versions), versions)
      new PartialFirst(rows, Granted.entries(limits._1), first)
    } else {
      val topN =
        new PartialTopN(Granted.entries(limits._1), bound(of), ranked(versions), places, versions)
      val prefix = OrderPrefix.of(order(columns)).expression
      new PartialTopNRows(
        rows,
        topN,
        UnsafeProjection.create(of, columns),
        UnsafeProjection.create(Seq(prefix), columns))
    }
  }
}

private[topn] object RowsTopN {
  import io.firesteel.changelog.plan.PlaceFunction

  /** Sort-and-take: of the rows of one partition those at the places, each with its place. */
  def expected(rows: Seq[Seq[Any]], places: Places)(
      order: Ordering[Seq[Any]]): Seq[(Seq[Any], Long)] = {
    var (rank, dense) = (0L, 0L)
    val sorted = rows.sorted(order).toIndexedSeq
    sorted.indices.map { i =>
      if (i == 0 || order.lt(sorted(i - 1), sorted(i))) {
        rank = i + 1L
        dense += 1
      }
      sorted(i) -> (places.function match {
        case PlaceFunction.RowNumber => i + 1L
        case PlaceFunction.Rank => rank
        case PlaceFunction.DenseRank => dense
      })
    }.filter { case (_, place) => place >= places.from && place <= places.to }
  }
}
