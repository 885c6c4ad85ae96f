package io.firesteel.changelog.join

import io.firesteel.changelog.state.StateEntries

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The rows of a join, made again of what it keeps, for a join above it by the same keys in the same
 * store. They are those after the micro-batch, once all of the join's changes were read. One instance
 * per task.
 *
 * With `m` rows of a key on one side and `n` on the other it reads `m + n` rows of state to show `m x
 * n`, and `m x n` if both sides are spread over buckets: no more than a copy of the result would have.
 */
final private[join] class RejoinedRows(entries: StateEntries, below: SpecBelow) {

  private[this] val state = new PackedState(entries.ofMember(below.member), below.spec)
  private[this] val deeper: RejoinedRows =
    below.spec.below.map(new RejoinedRows(entries, _)).orNull
  private[this] val result = new JoinedRows(below.spec, Some(below.stored))
  private[this] var key: UnsafeRow = _
  private[this] val stored = new StoredRow

  /** Turns to a key. */
  def open(opened: UnsafeRow): Unit = {
    key = opened
    state.open(key)
    if (deeper != null) deeper.open(key)
  }

  /** Whether all that is read for the key is in memory. */
  def areFew: Boolean =
    state.right.areFew && (if (deeper == null) state.left.areFew else deeper.areFew)

  /** The key's rows, to be read to the end; the next one overwrites them. */
  def rows: Iterator[StoredRow] = {
    val isMatched = state.right.hasOthers(ChangedRows.none)
    if (isMatched && result.showsPairs) pairs
    else if (result.showsLeft && result.isShown(isMatched))
      lefts.map(its => show(result.leftAlone(key, its.row, isMatched), its.copies))
    else Iterator.empty
  }

  private def lefts: Iterator[StoredRow] =
    if (deeper == null) state.left.others(ChangedRows.none) else deeper.rows

  private def rights: Iterator[StoredRow] = state.right.others(ChangedRows.none)

  /** The side in buckets is read once where the other one is in memory. */
  private def pairs: Iterator[StoredRow] =
    if (state.right.areFew) lefts.flatMap(l => rights.filter(areMatch(l, _)).map(pair(l, _)))
    else rights.flatMap(r => lefts.filter(areMatch(_, r)).map(pair(_, r)))

  private def areMatch(left: StoredRow, right: StoredRow): Boolean =
    result.areMatch(key, left.row, right.row)

  private def pair(left: StoredRow, right: StoredRow): StoredRow =
    show(result.pair(key, left.row, right.row), left.copies * right.copies)

  private def show(row: UnsafeRow, copies: Long): StoredRow = {
    stored.row = row
    stored.copies = copies
    stored
  }
}

private[join] object RejoinedRows {

  /** What state keeps of such a side, in words. */
  val text: String = "nothing, the join below joins its rows again"
}
