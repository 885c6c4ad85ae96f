package io.firesteel.changelog.aggregate

import io.firesteel.changelog.fold.{PackedValues, ValueTallies}
import io.firesteel.core.rows.{ColumnProjection, WordColumn}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, BoundReference, Expression, If, Literal, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/**
 * The values of sets in the rows of a task. Sets that have the same value of each row, or none, share
 * it: those of `DISTINCT`s that differ by their filters.
 *
 * @param same for each argument the number of its value: arguments with the same one have the same
 *   value in a row, or are null
 */
final private[aggregate] class PartialValues(layout: AggregateLayout, same: Seq[Int]) {
  import PartialValues._

  private[this] val shared: Array[Shared] =
    layout.sets.indices.groupBy { set =>
      val of = layout.sets(set)
      val values =
        if (of.keepsNulls) of.columns else of.columns.map(at => same(at - layout.numKeys))
      (values, of.types, of.keepsNulls)
    }.values.flatMap(_.grouped(mostSets)).toArray.sortBy(_.head)
      .map(sets => new Shared(layout, sets.toArray))

  /** Number of values. */
  def size: Int = {
    var (sum, i) = (0, 0)
    while (i < shared.length) {
      sum += shared(i).tallies.size
      i += 1
    }
    sum
  }

  /** Bytes that are held, by estimate. */
  def bytes: Long = {
    var (sum, i) = (0L, 0)
    while (i < shared.length) {
      sum += shared(i).tallies.bytes
      i += 1
    }
    sum
  }

  /** Adds `sign` rows to the values of a row. */
  def add(group: Int, row: InternalRow, sign: Int): Unit = {
    var i = 0
    while (i < shared.length) {
      shared(i).add(group, row, sign)
      i += 1
    }
  }

  /** The values of all sets that have changed, packed by set and group. */
  def packed(groups: Int)(made: (Int, Int, Array[Byte]) => InternalRow): Iterator[InternalRow] =
    shared.iterator.flatMap(_.packed(groups)(made))

  def clear(): Unit = shared.foreach(_.tallies.clear())
}

private[changelog] object PartialValues {

  /**
   * For each argument of an aggregate the number of its value: `x` and `if(f, x, null)`, as which a
   * call with a `FILTER` reads its argument, have the same one.
   *
   * @param input the projection that computes the arguments, if there is one
   */
  def same(arguments: Seq[Attribute], input: LogicalPlan): Seq[Int] = {
    // Not the canonical form, in which a sum of floats in another order is the same.
    val values = arguments.map(valueOf(_, input).transform { case column: Attribute =>
      column.canonicalized
    })
    values.map(values.indexOf(_))
  }

  private def valueOf(column: Attribute, input: LogicalPlan): Expression = input match {
    case Project(columns, _) =>
      columns.find(_.exprId == column.exprId) match {
        case Some(Alias(If(_, value, Literal(null, _)), _)) if value.deterministic => value
        case Some(Alias(value, _)) if value.deterministic => value
        case _ => column
      }
    case _ => column
  }

  /** A row between the halves has values of at most so many entries of the store. */
  private val bucketsPerRow = 16

  /** A value has a number for each set that shares it, also for those that it is not in. */
  private val mostSets = 8

  final private[aggregate] class Shared(layout: AggregateLayout, sets: Array[Int]) {
    private[this] val first = layout.sets(sets.head)
    private[this] val columns = sets.map(set => layout.sets(set).columns.toArray)
    private[this] val filters = sets.map(set => layout.sets(set).filter.getOrElse(-1))
    private[this] val words = columns.map { places =>
      if (first.isNumber) WordColumn.of(places.toSeq, first.types) else null
    }
    private[this] val toValue = columns.map { places =>
      ColumnProjection(places.toSeq.zip(first.types).map { case (column, t) =>
        BoundReference(column, t, nullable = true)
      })
    }

    val tallies = new ValueTallies(first.isNumber, sets.length)

    def add(group: Int, row: InternalRow, sign: Int): Unit = {
      var (entry, i) = (-1, 0)
      while (i < filters.length) {
        if (counts(row, i)) {
          if (entry < 0) entry = entryOf(group, row, i)
          tallies.addTo(entry, sign.toLong, i)
        }
        i += 1
      }
    }

    private def counts(row: InternalRow, i: Int): Boolean =
      (filters(i) < 0 || (!row.isNullAt(filters(i)) && row.getBoolean(filters(i)))) &&
        (first.keepsNulls || hasAll(row, columns(i)))

    private def hasAll(row: InternalRow, places: Array[Int]): Boolean = {
      var i = 0
      while (i < places.length && !row.isNullAt(places(i))) i += 1
      i == places.length
    }

    private def entryOf(group: Int, row: InternalRow, i: Int): Int = row match {
      case unsafe: UnsafeRow if words(i) != null => tallies.ofNumber(group, words(i)(unsafe))
      case other => tallies.of(group, toValue(i)(other))
    }

    def packed(groups: Int)(made: (Int, Int, Array[Byte]) => InternalRow): Iterator[InternalRow] = {
      val (order, starts) = tallies.byGroup(groups)
      val kept = new Array[Int](order.length) // of one group and tally at a time
      val perRow = first.perBucket * bucketsPerRow
      for {
        tally <- sets.indices.iterator
        group <- Iterator.range(0, groups)
        n = tallies.present(order, starts(group), starts(group + 1), tally, kept)
        at <- Iterator.range(0, n, perRow)
      } yield made(
        group,
        sets(tally),
        PackedValues.pack(tallies, kept, at, math.min(at + perRow, n), tally))
    }
  }
}
