package io.firesteel.changelog.join

import io.firesteel.changelog.fold.FoldedRows
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * How the result changes with the rows of one key.
 *
 * With `L` and `R` for the rows of a key that stay, and `l` and `r` for those whose number changes,
 * the changes are those of `l x R`, `L x r` and `l x r`, each row of which has a number of copies
 * before and after. `l` and `r` are in memory, `L` and `R` are read from state once, and only if
 * there are rows that they meet.
 */
final private[join] class MatchChanges(state: JoinState, result: JoinedRows) {

  private[this] val (left, right) = (state.left, state.right)

  /** Changes that were not emitted. */
  val out: EmittedChanges = result.newChanges()

  def ofKey(key: UnsafeRow, l: ChangedRows, r: ChangedRows): OfKey = {
    // Where all rows of a key have the same matches, it is enough to know whether there are any.
    val ofRight =
      if (!result.showsLeft || left.countsMatches) null else Presence(right.hasOthers(r), r)
    val ofLeft =
      if (!result.showsRight || right.countsMatches) null else Presence(left.hasOthers(l), l)
    new OfKey(key, l, r, ofRight, ofLeft)
  }

  /** Left rows with the right rows of their key, or alone; each right row is read once. */
  def snapshot(key: UnsafeRow, l: FoldedRows): Iterator[InternalRow] = {
    val isMatched = new Array[Boolean](l.size)
    def alone() = {
      if (result.showsLeft) (0 until l.size).filterNot(isMatched(_)).foreach { i =>
        out.add(result.leftAlone(key, l.row(i), matched = false), l.count(i))
      }
      state.close()
      out.take()
    }
    val rows = if (l.size == 0) Iterator.empty else right.others(ChangedRows.none)
    // A row that was deleted before it came is not there yet.
    rows.filter(_.copies > 0L).flatMap { row =>
      (0 until l.size).foreach { i =>
        if (result.areMatch(key, l.row(i), row.row)) {
          isMatched(i) = true
          out.add(result.pair(key, l.row(i), row.row), l.count(i) * row.copies)
        }
      }
      out.take()
    } ++ alone()
  }

  /**
   * The changes of a key.
   *
   * @param ofRight whether the right side has rows, before and after; null if state counts matches
   * @param ofLeft the same of the left side
   */
  final class OfKey(
      key: UnsafeRow,
      l: ChangedRows,
      r: ChangedRows,
      ofRight: Presence,
      ofLeft: Presence) {

    private def readsRight = !l.isEmpty && (result.showsPairs || left.countsMatches)
    private def readsLeft = !r.isEmpty && (result.showsPairs || left.countsMatches ||
      ofRight != null && ofRight.isChanged)

    /** Adds all changes to `out`. */
    def changeAll(): Unit = {
      if (readsRight) right.others(r).foreach(withRight(key, l, _, ofLeft))
      if (readsLeft) left.others(l).foreach(withLeft(key, _, r, ofRight))
      goneFirst(l, r).foreach(withEach(key, _, r))
      end()
    }

    /** The changes, as many as the product of both sides: they are emitted as they are made. */
    def changes: Iterator[InternalRow] = {
      def besides = if (readsRight) {
        right.others(r).flatMap { row =>
          withRight(key, l, row, ofLeft)
          // With one right row, a left row's changes are all of those that are still to come.
          if (result.hasOneRight) Iterator.empty else out.take()
        }
      } else Iterator.empty
      def above = if (readsLeft) {
        left.others(l).flatMap { row =>
          withLeft(key, row, r, ofRight)
          if (result.hasOneLeft) Iterator.empty else out.take()
        }
      } else Iterator.empty
      def each = goneFirst(l, r).flatMap { its =>
        withEach(key, its, r)
        if (result.hasOneLeft || result.hasOneRight) Iterator.empty else out.take()
      }
      def both = {
        end()
        out.take()
      }
      besides ++ above ++ each ++ both
    }

    private def end(): Unit = {
      if (result.showsLeft) l.foreach(aloneLeft(key, _, ofRight))
      if (result.showsRight) r.foreach(aloneRight(key, _, ofLeft))
      left.put(l)
      right.put(r)
      state.close()
    }
  }

  /** Changed left rows with a right row that stays. */
  private def withRight(
      key: UnsafeRow,
      l: ChangedRows,
      row: StoredRow,
      ofLeft: Presence): Unit = {
    var change = 0L
    l.foreach { its =>
      if (result.areMatch(key, its.row, row.row)) {
        if (result.showsPairs) out.add(result.pair(key, its.row, row.row), its.change * row.copies)
        if (its.isNew) its.matchesAfter += row.copies
        change += its.change
      }
    }
    if (result.showsRight) {
      val (before, after) =
        if (ofLeft == null) (row.matches > 0L, row.matches + change > 0L)
        else (ofLeft.before, ofLeft.after)
      if (before != after) {
        out.add(result.rightAlone(key, row.row), if (before) row.copies else -row.copies)
      }
      if (right.countsMatches && change != 0L) {
        right.putMatches(row, row.matches + change)
      }
    }
  }

  /** A left row that stays with changed right rows. */
  private def withLeft(
      key: UnsafeRow,
      row: StoredRow,
      r: ChangedRows,
      ofRight: Presence): Unit = {
    var change = 0L
    r.foreach { its =>
      if (result.areMatch(key, row.row, its.row)) {
        if (result.showsPairs) out.add(result.pair(key, row.row, its.row), its.change * row.copies)
        if (its.isNew) its.matchesAfter += row.copies
        change += its.change
      }
    }
    if (result.showsLeft) {
      val (before, after) =
        if (ofRight == null) (row.matches > 0L, row.matches + change > 0L)
        else (ofRight.before, ofRight.after)
      if (before != after) {
        if (result.isShown(before)) {
          out.add(result.leftAlone(key, row.row, before), -row.copies)
        }
        if (result.isShown(after)) out.add(result.leftAlone(key, row.row, after), row.copies)
      }
      if (left.countsMatches && change != 0L) {
        left.putMatches(row, row.matches + change)
      }
    }
  }

  /**
   * The changed left rows if there are changed right rows. Rows that go come first: a new row may
   * have the upsert key of one of them.
   */
  private def goneFirst(l: ChangedRows, r: ChangedRows): Iterator[ChangedRow] = {
    def all = l.iterator
    if (l.isEmpty || r.isEmpty) Iterator.empty
    else all.filter(_.change < 0L) ++ all.filter(_.change > 0L)
  }

  /**
   * A changed left row with the changed right rows. A row that goes never meets one that comes: the
   * condition may fail for the two.
   */
  private def withEach(key: UnsafeRow, its: ChangedRow, r: ChangedRows): Unit =
    r.foreach { other =>
      val meet =
        its.before != 0L && other.before != 0L || its.after != 0L && other.after != 0L
      if (meet && result.areMatch(key, its.row, other.row)) {
        if (result.showsPairs) {
          out.add(
            result.pair(key, its.row, other.row),
            its.after * other.after - its.before * other.before)
        }
        its.matchesAfter += (if (its.isNew) other.after else other.change)
        other.matchesAfter += (if (other.isNew) its.after else its.change)
      }
    }

  private def aloneLeft(key: UnsafeRow, its: ChangedRow, ofRight: Presence): Unit = {
    val (before, after) =
      if (ofRight == null) (its.matchesBefore > 0L, its.matchesAfter > 0L)
      else (ofRight.before, ofRight.after)
    if (before == after) {
      if (result.isShown(after)) out.add(result.leftAlone(key, its.row, after), its.change)
    } else {
      if (result.isShown(before)) out.add(result.leftAlone(key, its.row, before), -its.before)
      if (result.isShown(after)) out.add(result.leftAlone(key, its.row, after), its.after)
    }
  }

  private def aloneRight(key: UnsafeRow, its: ChangedRow, ofLeft: Presence): Unit = {
    val (before, after) =
      if (ofLeft == null) (its.matchesBefore > 0L, its.matchesAfter > 0L)
      else (ofLeft.before, ofLeft.after)
    val was = if (before) 0L else its.before
    val is = if (after) 0L else its.after
    if (was != is) out.add(result.rightAlone(key, its.row), is - was)
  }
}

/** Whether a side has rows of a key, before and after. */
final private[join] case class Presence(before: Boolean, after: Boolean) {
  def isChanged: Boolean = before != after
}

private[join] object Presence {
  def apply(others: Boolean, changed: ChangedRows): Presence = {
    var (before, after) = (others, others)
    changed.foreach { its =>
      before ||= its.before != 0L
      after ||= its.after != 0L
    }
    new Presence(before, after)
  }
}
