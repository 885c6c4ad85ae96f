package io.firesteel.changelog.temporal

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering

/** The versions of a key, the newest first. Of two that tie, the one that came later is newer. */
final private[temporal] class Versions(spec: TemporalSpec, stored: Seq[UnsafeRow]) {

  private[this] val sorted = ArrayBuffer.from(stored)
  private[this] lazy val newestFirst = new LazilyGeneratedOrdering(spec.order)

  def add(version: UnsafeRow): Unit =
    if (!version.isNullAt(spec.rightTimeAt)) {
      sorted.insert(firstWhere(newestFirst.compare(_, version) >= 0), version)
    }

  /** The version that was valid at a time; null if there was none. */
  def at(time: Long): UnsafeRow = {
    val at = firstWhere(timeOf(_) <= time)
    if (at == sorted.size) null else sorted(at)
  }

  /** Those after a time, and the newest one up to it. */
  def since(time: Long): Seq[UnsafeRow] =
    sorted.take(firstWhere(timeOf(_) <= time) + 1).toSeq

  private def timeOf(version: UnsafeRow): Long = version.getLong(spec.rightTimeAt)

  /** The first place from which a condition holds. */
  private def firstWhere(holds: UnsafeRow => Boolean): Int = {
    var (low, high) = (0, sorted.size)
    while (low < high) {
      val middle = (low + high) >>> 1
      if (holds(sorted(middle))) high = middle else low = middle + 1
    }
    low
  }
}
