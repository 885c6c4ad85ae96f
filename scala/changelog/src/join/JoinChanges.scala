package io.firesteel.changelog.join

import io.firesteel.changelog.fold.{FoldedRows, FoldIterator, FoldLimits}
import io.firesteel.core.rows.KeyIndex

import java.util.{Arrays, LinkedHashMap}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Folds the rows of both inputs by the key of the join, and emits how the result changes. The
 * changes are net: of what the result was before and what it is after, a row that is in both is not
 * emitted.
 *
 * @param isSnapshot whether a left row meets the right rows as they are after the micro-batch's
 *   changes, which come first, and is not kept
 * @param rejoined joins the left rows of a key again; none if state keeps them
 */
final private[join] class JoinChanges(
    rows: TwoInputs,
    limits: FoldLimits,
    inputs: Seq[JoinInput],
    keys: KeyIndex,
    state: JoinState,
    result: JoinedRows,
    isSnapshot: Boolean,
    rejoined: Option[RejoinedRows])
  extends FoldIterator(rows, limits) {

  private[this] val (left, right) = (state.left, state.right)

  // By the number of their key, of each side.
  private[this] val folds = Array.fill(2)(new Array[FoldedRows](JoinChanges.startKeys))
  // Rows that match nothing, by key: they are in the result and not in state.
  private[this] val alone = Array.fill(2)(new LinkedHashMap[UnsafeRow, FoldedRows])
  private[this] var numRows = 0
  private[this] var rowBytes = 0L
  private[this] var isBefore = false
  // Equal left rows that only come are told apart only where those of state are made again.
  private[this] val isLoose = rejoined.nonEmpty && inputs.head.onlyComes
  private[this] val matches = new MatchChanges(state, result)
  private[this] val out = matches.out
  private[this] val above = rejoined
    .map(new RejoinedChanges(state, _, result, inputs.head.onlyComes, out)).orNull

  override protected def held: Int = numRows

  override protected def bytes: Long = rowBytes

  // An update is emitted as one, or it would be a deletion in a result that has none.
  override protected def isBetween: Boolean = isBefore

  override protected def fold(row: InternalRow): Unit = {
    val input = inputs(rows.of)
    val folded = foldedOf(input, row)
    val (before, stored) = (folded.size, input.storedOf(row))
    if (input.replaces) folded.clear()
    if (isLoose && rows.of == 0) folded.append(stored, 1L) else folded.add(stored, input.sign(row))
    isBefore = input.isBefore(row)
    if (folded.size > before) {
      numRows += 1
      rowBytes += stored.getSizeInBytes + FoldLimits.overhead
    }
  }

  /** The rows of a row's key and side. */
  private def foldedOf(input: JoinInput, row: InternalRow): FoldedRows = {
    val number = input.numberKey
    row match {
      case unsafe: UnsafeRow if number != null && !number.isNull(unsafe) =>
        foldedOf(keys.of(number(unsafe)), KeyIndex.numberBytes)
      case other =>
        val key = input.keyOf(other)
        if (input.matchesNothing(key)) aloneOf(rows.of, key)
        else foldedOf(keys.of(key), key.getSizeInBytes)
    }
  }

  private def foldedOf(at: Int, keyBytes: Int): FoldedRows = {
    if (at >= folds(0).length) {
      folds.indices.foreach(side => folds(side) = Arrays.copyOf(folds(side), 2 * at))
    }
    val of = folds(rows.of)
    if (of(at) == null) {
      of(at) = new FoldedRows
      rowBytes += keyBytes + FoldLimits.overhead
    }
    of(at)
  }

  /** The rows of a key and side that are there. */
  private def folded(side: Int, at: Int): FoldedRows = {
    val of = folds(side)(at)
    if (of == null) FoldedRows.none else of
  }

  private def aloneOf(input: Int, key: UnsafeRow): FoldedRows = {
    var found = alone(input).get(key)
    if (found == null) {
      found = new FoldedRows
      alone(input).put(key.copy(), found)
      rowBytes += key.getSizeInBytes + FoldLimits.overhead
    }
    found
  }

  override protected def drain(): Iterator[InternalRow] = {
    var at = 0
    val joined = new Iterator[Iterator[InternalRow]] {
      override def hasNext: Boolean = at < keys.size
      override def next(): Iterator[InternalRow] = {
        // The changes of keys with few rows are emitted together.
        var large: Iterator[InternalRow] = null
        while (large == null && at < keys.size && out.size < JoinChanges.together) {
          // Valid for the changes of this key only.
          val (key, foldedLeft, foldedRight) = (keys.key(at), folded(0, at), folded(1, at))
          at += 1
          state.open(key)
          val l =
            if (isSnapshot || above != null) ChangedRows.none else left.changes(foldedLeft)
          val r = right.changes(foldedRight)
          if (above != null) {
            val its = above.ofKey(key, foldedLeft, r)
            if (math.max(foldedLeft.size, r.size) > JoinChanges.few || !its.areFew) {
              large = its.changes
            } else its.changeAll()
          } else if (isSnapshot) {
            right.put(r)
            large = matches.snapshot(key, foldedLeft)
          } else if (!l.isEmpty || !r.isEmpty) {
            val its = matches.ofKey(key, l, r)
            if (!left.areFew || !right.areFew || math.max(l.size, r.size) > JoinChanges.few) {
              large = its.changes
            } else its.changeAll()
          }
        }
        val before = out.take()
        if (large == null) before else before ++ large
      }
    }.flatten
    val all = matchNothing() ++ joined
    new Iterator[InternalRow] {
      override def hasNext: Boolean = all.hasNext || {
        keys.clear()
        folds.indices.foreach(folds(_) = new Array[FoldedRows](JoinChanges.startKeys))
        alone.foreach(_.clear())
        numRows = 0
        rowBytes = 0L
        false
      }
      override def next(): InternalRow = all.next()
    }
  }

  private def matchNothing(): Iterator[InternalRow] = {
    alone(0).forEach { (key, rows) =>
      if (result.isShown(matched = false)) {
        (0 until rows.size).foreach { i =>
          out.add(result.leftAlone(key, rows.row(i), matched = false), rows.count(i))
        }
      }
    }
    alone(1).forEach { (key, rows) =>
      (0 until rows.size).foreach(i => out.add(result.rightAlone(key, rows.row(i)), rows.count(i)))
    }
    out.take()
  }
}

private[join] object JoinChanges {

  /** Changes that are emitted together, of keys with few rows. */
  private val together = 256

  /** Changed rows of a side that are few. */
  private val few = 16

  /** Keys for which there is room at first. */
  private val startKeys = 64
}
