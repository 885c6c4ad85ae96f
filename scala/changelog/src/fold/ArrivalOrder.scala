package io.firesteel.changelog.fold

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SortOrder
import org.apache.spark.sql.catalyst.expressions.codegen.LazilyGeneratedOrdering

/**
 * Which of two rows of a key is newer: the one with the greater sequence; with equal sequences, the
 * one that arrives later.
 *
 * With equal sequences a `-U` row is older than any other row, even if it comes later or from
 * another file: the two sides of an update in one commit may lie in two files, both with the
 * commit's number. Exception: if all columns are equal, the `-U` retracts that very row.
 */
final private[changelog] class ArrivalOrder(sequence: Seq[SortOrder]) {

  private[this] val ordering = new LazilyGeneratedOrdering(sequence)

  val isByArrival: Boolean = sequence.isEmpty

  /** Less than 0 if `row` is older than `other` by the sequence; 0 if the sequences are equal. */
  def compare(row: InternalRow, other: InternalRow): Int =
    if (isByArrival) 0 else ordering.compare(row, other)
}
