package io.firesteel.changelog.join

import scala.collection.mutable

/**
 * A join whose rows have a time to live, row by row and in memory: what the operator is compared
 * with. A row expires when it was not written for longer than its side's time. A row is written when
 * its number of copies changes, and when its number of matches changes if that decides what is shown
 * of it. An expired row is as if it had never been, but the matches that it made still count.
 *
 * @param joinType `INNER`, `LEFT`, `FULL`, `LEFT SEMI` or `LEFT ANTI`
 * @param ttls milliseconds for the left and the right side; 0 is for ever
 */
final class ExpiringJoin(joinType: String, ttls: Seq[Long]) {
  import ExpiringJoin.{Entry, Shown, Side}

  private val sides = Seq.fill(2)(mutable.LinkedHashMap.empty[Side, Entry])
  private val halved = joinType == "LEFT SEMI" || joinType == "LEFT ANTI"
  private def counts(side: Int): Boolean =
    if (side == 0) joinType != "INNER" else joinType == "FULL"

  /** How often a row had expired when it was looked for. */
  var expired: Int = 0

  private def isLive(side: Int, entry: Entry, now: Long): Boolean = {
    val lives = ttls(side) == 0L || now - entry.written <= ttls(side)
    if (!lives) expired += 1
    lives
  }

  private def shows(side: Int, matches: Long): Boolean =
    counts(side) && (if (joinType == "LEFT SEMI") matches > 0L else matches == 0L)

  private def alone(side: Int, row: Side): Shown =
    if (side == 0) (Some(row), None) else (None, Some(row))

  private def pair(side: Int, row: Side, other: Side): Shown =
    if (side == 0) (Some(row), Some(other)) else (Some(other), Some(row))

  /**
   * How the result changes when a row comes (1) or goes (-1).
   *
   * @param side 0 for the left side, 1 for the right one
   */
  def change(side: Int, row: Side, sign: Int, now: Long): Map[Shown, Long] = {
    val out = mutable.Map.empty[Shown, Long].withDefaultValue(0L)
    if (row._1.isEmpty) {
      if (shows(side, 0L)) out(alone(side, row)) += sign.toLong
    } else {
      val own = sides(side).get(row).filter(isLive(side, _, now))
      val before = own.fold(0L)(_.copies)
      val after = math.max(before + sign, 0L)
      if (after != before) {
        val others = sides(1 - side).toSeq.filter { case (other, entry) =>
          other._1 == row._1 && areMatch(side, row, other) && isLive(1 - side, entry, now)
        }
        others.foreach { case (other, entry) => matched(side, row, other, entry, sign, now, out) }
        val matches = own.fold(others.map(_._2.copies).sum)(_.matches)
        if (shows(side, matches)) out(alone(side, row)) += sign.toLong
        if (after == 0L) sides(side) -= row
        else sides(side)(row) = new Entry(after, matches, now)
      }
    }
    out.toMap.filter(_._2 != 0L)
  }

  private def areMatch(side: Int, row: Side, other: Side): Boolean =
    if (side == 0) row._2 <= other._2 else other._2 <= row._2

  private def matched(
      side: Int,
      row: Side,
      other: Side,
      entry: Entry,
      sign: Int,
      now: Long,
      out: mutable.Map[Shown, Long]): Unit = {
    if (!halved) out(pair(side, row, other)) += sign * entry.copies
    if (counts(1 - side)) {
      val (was, is) = (shows(1 - side, entry.matches), shows(1 - side, entry.matches + sign))
      if (was && !is) out(alone(1 - side, other)) -= entry.copies
      if (is && !was) out(alone(1 - side, other)) += entry.copies
      entry.matches += sign
      entry.written = now
    }
  }
}

object ExpiringJoin {

  /** A key, none for null, and a value. */
  type Side = (Option[Int], Int)

  /** A row of the result. */
  type Shown = (Option[Side], Option[Side])

  final private class Entry(var copies: Long, var matches: Long, var written: Long)
}
