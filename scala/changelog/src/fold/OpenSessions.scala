package io.firesteel.changelog.fold

import scala.collection.mutable.ArrayBuffer

/**
 * A session in memory.
 *
 * @param start the first time of its rows, and `end` the last one and the gap, in microseconds
 * @param storedAt its start in the store; none if the store does not have it
 */
final private[changelog] class OpenSession[S >: Null](
    var start: Long,
    var end: Long,
    val storedAt: Option[Long] = None) {

  /** What its rows add up to; null if it has none yet, or if it was not read. */
  var state: S = _
}

/** The open sessions of a key, in order. Sessions that touch are one, as in Spark and in Flink. */
final private[changelog] class OpenSessions[S >: Null] {

  private[this] val sorted = ArrayBuffer.empty[OpenSession[S]]

  def all: collection.Seq[OpenSession[S]] = sorted

  /** Adds a session that is in the store, and that begins after all others. */
  def append(start: Long, end: Long): Unit =
    sorted += new OpenSession[S](start, end, Some(start))

  /** The session that has a time. */
  def of(time: Long): Option[OpenSession[S]] = {
    val at = firstNotBefore(time)
    if (at < sorted.size && sorted(at).start <= time) Some(sorted(at)) else None
  }

  /**
   * The session of a row, or of other rows that touch, with these times.
   *
   * @param merge is told of sessions that are one now: the one that stays, and one that goes
   */
  def at(start: Long, end: Long)(
      merge: (OpenSession[S], OpenSession[S]) => Unit): OpenSession[S] = {
    val place = firstNotBefore(start)
    if (place == sorted.size || sorted(place).start > end) {
      val made = new OpenSession[S](start, end)
      sorted.insert(place, made)
      made
    } else {
      val its = sorted(place)
      its.start = math.min(its.start, start)
      its.end = math.max(its.end, end)
      while (place + 1 < sorted.size && sorted(place + 1).start <= its.end) {
        val next = sorted.remove(place + 1)
        its.end = math.max(its.end, next.end)
        merge(its, next)
      }
      its
    }
  }

  /** The place of the first session that does not end before a time. */
  private def firstNotBefore(time: Long): Int =
    // Most rows are of the last session, or after it.
    if (sorted.isEmpty || sorted.last.end < time) sorted.size
    else {
      var (low, high) = (0, sorted.size - 1)
      while (low < high) {
        val middle = (low + high) >>> 1
        if (sorted(middle).end < time) low = middle + 1 else high = middle
      }
      low
    }
}
