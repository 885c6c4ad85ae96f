package io.firesteel.changelog.join

import io.firesteel.changelog.fold.{FoldIterator, FoldLimits, Tally}

import java.util.LinkedHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Folds the rows of both inputs by the key of the join, and emits how the result changes. The
 * changes are net: of what the result was before and what it is after, a row that is in both is not
 * emitted.
 *
 * With `L` and `R` for the rows of a key that stay, and `l` and `r` for those whose number changes,
 * the changes are those of `l x R`, `L x r` and `l x r`, each row of which has a number of copies
 * before and after. `l` and `r` are in memory, `L` and `R` are read from state once, and only if
 * there are rows that they meet.
 */
final private[join] class JoinChanges(
    rows: TwoInputs,
    limits: FoldLimits,
    inputs: Seq[JoinInput],
    state: JoinState,
    result: JoinedRows)
  extends FoldIterator(rows, limits) {
  import JoinChanges.Folded

  private[this] val (left, right) = (state.left, state.right)

  private[this] val byKey = new LinkedHashMap[UnsafeRow, Folded]
  // Rows that match nothing, by key: they are in the result and not in state.
  private[this] val alone = Array.fill(2)(new LinkedHashMap[UnsafeRow, Tally.Map])
  private[this] var numRows = 0
  private[this] var rowBytes = 0L
  private[this] var isBefore = false
  private[this] val out = result.newChanges()

  override protected def held: Int = numRows

  override protected def bytes: Long = rowBytes

  // An update is emitted as one, or it would be a deletion in a result that has none.
  override protected def isBetween: Boolean = isBefore

  override protected def fold(row: InternalRow): Unit = {
    val input = inputs(rows.of)
    val key = input.keyOf(row)
    val tallies = if (input.matchesNothing(key)) aloneOf(rows.of, key) else foldedOf(key, rows.of)
    val (before, stored) = (tallies.size, input.storedOf(row))
    Tally.add(tallies, stored, input.sign(row))
    isBefore = input.isBefore(row)
    if (tallies.size > before) {
      numRows += 1
      rowBytes += stored.getSizeInBytes + FoldLimits.overhead
    }
  }

  private def foldedOf(key: UnsafeRow, input: Int): Tally.Map = {
    var found = byKey.get(key)
    if (found == null) {
      found = new Folded
      byKey.put(key.copy(), found)
      rowBytes += key.getSizeInBytes + FoldLimits.overhead
    }
    if (input == 0) found.left else found.right
  }

  private def aloneOf(input: Int, key: UnsafeRow): Tally.Map = {
    var found = alone(input).get(key)
    if (found == null) {
      found = new Tally.Map
      alone(input).put(key.copy(), found)
      rowBytes += key.getSizeInBytes + FoldLimits.overhead
    }
    found
  }

  override protected def drain(): Iterator[InternalRow] = {
    val keys = byKey.entrySet.iterator
    val joined = new Iterator[Iterator[InternalRow]] {
      override def hasNext: Boolean = keys.hasNext
      override def next(): Iterator[InternalRow] = {
        val entry = keys.next()
        state.open(entry.getKey)
        ofKey(
          entry.getKey,
          left.changes(entry.getValue.left),
          right.changes(entry.getValue.right))
      }
    }.flatten
    val all = matchNothing() ++ joined
    new Iterator[InternalRow] {
      override def hasNext: Boolean = all.hasNext || {
        byKey.clear()
        alone.foreach(_.clear())
        numRows = 0
        rowBytes = 0L
        false
      }
      override def next(): InternalRow = all.next()
    }
  }

  private def matchNothing(): Iterator[InternalRow] = {
    alone(0).forEach { (key, tallies) =>
      if (result.isShown(matched = false)) {
        tallies.forEach((row, tally) =>
          out.add(result.leftAlone(key, row, matched = false), tally.count))
      }
    }
    alone(1).forEach { (key, tallies) =>
      tallies.forEach((row, tally) => out.add(result.rightAlone(key, row), tally.count))
    }
    out.take()
  }

  private def ofKey(
      key: UnsafeRow,
      l: ChangedRow.Map,
      r: ChangedRow.Map): Iterator[InternalRow] =
    if (l.isEmpty && r.isEmpty) Iterator.empty
    else if (!result.showsLeft) changed(key, l, r, null, null)
    else {
      // Where all rows of a key have the same matches, it is enough to know whether there are any.
      val rightMatch = if (left.countsMatches) null else Presence(right.hasOthers(r), r)
      val leftMatch =
        if (right.countsMatches || !result.showsRight) null
        else Presence(left.hasOthers(l), l)
      changed(key, l, r, rightMatch, leftMatch)
    }

  /**
   * @param ofRight whether the right side has rows, before and after; null if state counts matches
   * @param ofLeft the same of the left side
   */
  private def changed(
      key: UnsafeRow,
      l: ChangedRow.Map,
      r: ChangedRow.Map,
      ofRight: Presence,
      ofLeft: Presence): Iterator[InternalRow] = {
    val readsRight = !l.isEmpty && (result.showsPairs || left.countsMatches)
    val readsLeft = !r.isEmpty && (result.showsPairs || left.countsMatches ||
      ofRight != null && ofRight.before != ofRight.after)
    val besides = if (readsRight) {
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
    // As many as the product of both, so they are emitted as they are made.
    def each = goneFirst(l, r).flatMap { its =>
      withEach(key, its, r)
      if (result.hasOneLeft || result.hasOneRight) Iterator.empty else out.take()
    }
    def both = {
      if (result.showsLeft) l.values.forEach(aloneLeft(key, _, ofRight))
      if (result.showsRight) r.values.forEach(aloneRight(key, _, ofLeft))
      left.put(l)
      right.put(r)
      state.close()
      out.take()
    }
    besides ++ above ++ each ++ both
  }

  /** Changed left rows with a right row that stays. */
  private def withRight(
      key: UnsafeRow,
      l: ChangedRow.Map,
      row: StoredRow,
      ofLeft: Presence): Unit = {
    var change = 0L
    l.values.forEach { its =>
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
      r: ChangedRow.Map,
      ofRight: Presence): Unit = {
    var change = 0L
    r.values.forEach { its =>
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
  private def goneFirst(l: ChangedRow.Map, r: ChangedRow.Map): Iterator[ChangedRow] = {
    def all = l.values.iterator.asScala
    if (r.isEmpty) Iterator.empty else all.filter(_.change < 0L) ++ all.filter(_.change > 0L)
  }

  /** A changed left row with the changed right rows. */
  private def withEach(key: UnsafeRow, its: ChangedRow, r: ChangedRow.Map): Unit =
    r.values.forEach { other =>
      if (result.areMatch(key, its.row, other.row)) {
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

private[join] object JoinChanges {

  /** What the rows of one key add up to, by side. */
  final private class Folded {
    val left = new Tally.Map
    val right = new Tally.Map
  }
}

/** Whether a side has rows of a key, before and after. */
final private[join] case class Presence(before: Boolean, after: Boolean)

private[join] object Presence {
  def apply(others: Boolean, changed: ChangedRow.Map): Presence = {
    var (before, after) = (others, others)
    changed.values.forEach { its =>
      before ||= its.before != 0L
      after ||= its.after != 0L
    }
    new Presence(before, after)
  }
}
