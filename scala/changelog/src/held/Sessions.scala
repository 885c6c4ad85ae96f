package io.firesteel.changelog.held

import scala.collection.mutable.ArrayBuffer

/** A session from its first row's time to its last row's time and the gap, in microseconds. */
final private[held] case class Session(start: Long, end: Long)

/** The sessions of a key, in order. Sessions that touch are one, as in Spark and in Flink. */
final private[held] class Sessions(initial: Iterable[Session]) {

  private[this] val sorted = ArrayBuffer.from(initial)

  def all: Seq[Session] = sorted.toSeq

  /** The session of a row that was added. */
  def of(time: Long): Option[Session] = {
    val at = firstNotBefore(time)
    if (at < sorted.size && sorted(at).start <= time) Some(sorted(at)) else None
  }

  /** Adds a row's own session, and merges those that it touches. */
  def add(start: Long, end: Long): Unit = {
    val from = firstNotBefore(start)
    var until = from
    while (until < sorted.size && sorted(until).start <= end) until += 1
    val touched = sorted.slice(from, until)
    val merged = Session(
      (start +: touched.map(_.start)).min,
      (end +: touched.map(_.end)).max)
    sorted.patchInPlace(from, Seq(merged), until - from)
  }

  /** The place of the first session that does not end before a time. */
  private def firstNotBefore(time: Long): Int = {
    var (low, high) = (0, sorted.size)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (sorted(middle).end < time) low = middle + 1 else high = middle
    }
    low
  }
}
