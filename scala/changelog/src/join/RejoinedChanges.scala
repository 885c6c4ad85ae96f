package io.firesteel.changelog.join

import io.firesteel.changelog.fold.FoldedRows
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * How the result changes with the rows of one key, where the left rows are not kept but made again by
 * the join below, see [[RejoinedRows]]. These are the left rows after the micro-batch.
 *
 * With `l` and `r` for the changes of both sides, `L` for the left rows that are there before and
 * after, and `R` for the right ones, the changes are those of `l x R`, `L x r` and `l x r`, as in
 * [[MatchChanges]]. `L` is what is made again without what has come.
 *
 * Where nothing goes, `l x r` is part of `L x r`, with what has come: it need not be told which of
 * the rows that are made again have come.
 *
 * @param onlyComes whether no left row goes
 * @param out gets the changes
 */
final private[join] class RejoinedChanges(
    state: JoinState,
    rejoined: RejoinedRows,
    result: JoinedRows,
    onlyComes: Boolean,
    out: EmittedChanges) {

  private[this] val right = state.right

  def ofKey(key: UnsafeRow, l: FoldedRows, r: ChangedRows): OfKey = {
    val ofRight = if (result.showsLeft) Presence(right.hasOthers(r), r) else null
    new OfKey(key, l, r, ofRight)
  }

  /**
   * The changes of a key.
   *
   * @param ofRight whether the right side has rows, before and after, if a left row is in the result by
   *   itself. Such a join has no condition
   */
  final class OfKey(key: UnsafeRow, l: FoldedRows, r: ChangedRows, ofRight: Presence) {

    private[this] val readsLeft = !r.isEmpty && (result.showsPairs || ofRight.isChanged)
    private[this] val isPlain = onlyComes && r.old == 0 && ofRight == null
    if (readsLeft) {
      rejoined.open(key)
      if (!isPlain) l.settle()
    }

    /** Whether the rows of both sides are in memory. */
    def areFew: Boolean = right.areFew && (!readsLeft || rejoined.areFew)

    /** Adds all changes to `out`. */
    def changeAll(): Unit = {
      besides.foreach(_ => ())
      above.foreach(_ => ())
      each.foreach(_ => ())
      end()
    }

    /** The changes, as many as the product of both sides: they are emitted as they are made. */
    def changes: Iterator[InternalRow] = {
      val (oneLeft, oneRight) = (result.hasOneLeft, result.hasOneRight)
      def taken(steps: Iterator[Unit], areOne: Boolean) =
        steps.flatMap(_ => if (areOne) Iterator.empty else out.take())
      def last = {
        end()
        out.take()
      }
      taken(besides, oneRight) ++ taken(above, oneLeft) ++ taken(each, oneLeft || oneRight) ++ last
    }

    /** Changed left rows with each right row that stays. */
    private def besides: Iterator[Unit] =
      if (l.size == 0 || !result.showsPairs) Iterator.empty
      else right.others(r).map { row =>
        var i = 0
        while (i < l.size) {
          if (l.count(i) != 0L && result.areMatch(key, l.row(i), row.row)) {
            out.add(result.pair(key, l.row(i), row.row), l.count(i) * row.copies)
          }
          i += 1
        }
      }

    /**
     * Each left row that stays with changed right rows, or alone. Rows that are equal in what is
     * read of them are made again one by one, so what has come is taken from the first of them.
     */
    private def above: Iterator[Unit] =
      if (!readsLeft) Iterator.empty
      else if (isPlain) rejoined.rows.map(row => stays(row.row, row.copies))
      else {
        val come = Array.tabulate(l.size)(i => math.max(0L, l.count(i)))
        def rest = come.indices.iterator.filter(come(_) != 0L).map(i => stays(l.row(i), -come(i)))
        rejoined.rows.map { row =>
          val at = l.indexOf(row.row)
          val taken = if (at < 0) 0L else math.max(0L, math.min(come(at), row.copies))
          if (taken != 0L) come(at) -= taken
          if (taken != row.copies) stays(row.row, row.copies - taken)
        } ++ rest
      }

    private def stays(row: UnsafeRow, copies: Long): Unit = {
      if (result.showsPairs) r.foreach { other =>
        if (result.areMatch(key, row, other.row)) {
          out.add(result.pair(key, row, other.row), copies * other.change)
        }
      }
      if (ofRight != null && ofRight.isChanged) {
        alone(row, ofRight.before, -copies)
        alone(row, ofRight.after, copies)
      }
    }

    /** Changed left rows with changed right rows. Those that go come first, as in [[MatchChanges]]. */
    private def each: Iterator[Unit] =
      if (isPlain || l.size == 0 || r.isEmpty || !result.showsPairs) Iterator.empty
      else {
        def rows = Iterator.range(0, l.size)
        (rows.filter(l.count(_) < 0L) ++ rows.filter(l.count(_) > 0L)).map { i =>
          r.foreach { other =>
            val there = if (l.count(i) < 0L) other.before else other.after
            if (there != 0L && result.areMatch(key, l.row(i), other.row)) {
              out.add(result.pair(key, l.row(i), other.row), l.count(i) * there)
            }
          }
        }
      }

    private def end(): Unit = {
      if (ofRight != null) (0 until l.size).foreach { i =>
        val count = l.count(i)
        if (count != 0L) alone(l.row(i), if (count < 0L) ofRight.before else ofRight.after, count)
      }
      right.put(r)
      state.close()
    }

    private def alone(row: UnsafeRow, matched: Boolean, change: Long): Unit =
      if (result.isShown(matched)) out.add(result.leftAlone(key, row, matched), change)
  }
}
