package io.firesteel.changelog.temporal

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering

/**
 * The versions of a key, the newest first. Of two that tie, the one that came later is newer.
 *
 * Where the table has the first row of each key, the order is ascending, and only the oldest version
 * ever counts: it is valid from its time on.
 */
final private[temporal] class Versions(spec: TemporalSpec, stored: Seq[UnsafeRow]) {

  private[this] val added = ArrayBuffer.empty[UnsafeRow]

  /** Sorted once, when all have been added: the sort is stable, so ties stay as they are here. */
  private[this] lazy val sorted: IndexedSeq[UnsafeRow] = {
    def inOrder(all: Iterator[UnsafeRow]) =
      all.toIndexedSeq.sorted[InternalRow](new LazilyGeneratedOrdering(spec.order))
    if (added.isEmpty) stored.toIndexedSeq
    else if (spec.ofFirst) inOrder(stored.iterator ++ added)
    else inOrder(added.reverseIterator ++ stored)
  }

  /** Adds a version, before any is asked for. */
  def add(version: UnsafeRow): Unit = if (!version.isNullAt(spec.rightTimeAt)) added += version

  /** The version that was valid at a time; null if there was none. */
  def at(time: Long): UnsafeRow = {
    val at = if (spec.ofFirst) 0 else firstWhere(timeOf(_) <= time)
    if (at == sorted.size || timeOf(sorted(at)) > time) null else sorted(at)
  }

  /** Those that may be asked for from a time on: later ones, and the newest one up to it. */
  def since(time: Long): Seq[UnsafeRow] =
    sorted.take(if (spec.ofFirst) 1 else firstWhere(timeOf(_) <= time) + 1).toSeq

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
