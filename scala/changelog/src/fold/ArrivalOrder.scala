package io.firesteel.changelog.fold

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering

/**
 * Which of two rows of a key is the newer: by the sequence, and of equals the one that comes later.
 *
 * What an update has replaced is older than another row with its sequence, whenever and from whatever
 * file it comes: the two sides of an update in one commit may lie in two, with the commit's number. Not so
 * if it is the very row: then the sequence is the rows' own, and the row goes.
 */
final private[changelog] class ArrivalOrder(sequence: Seq[SortOrder]) {

  private[this] val ordering = new LazilyGeneratedOrdering(sequence)

  val isByArrival: Boolean = sequence.isEmpty

  /** Less than 0 when `row` is older than `other` by the sequence, 0 when that does not tell. */
  def compare(row: InternalRow, other: InternalRow): Int =
    if (isByArrival) 0 else ordering.compare(row, other)
}
