package io.firesteel.changelog.over

import io.firesteel.changelog.fold.Tally
import io.firesteel.core.changes.RowKind

import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeProjection, UnsafeRow}

/**
 * The changes of the result as rows with a kind. A row that leaves and a row that comes with the
 * same key are an update, also in two parts of a partition: a row that takes another place may leave
 * one and come into another. So what has no partner waits for the partition's end, where deletions
 * are emitted first.
 *
 * Memory: the rows of a partition that come, go or take another place.
 *
 * @param key the upsert key of the result, which has the partition; none if there is none
 * @param toOutput a row of the result and its kind, as it is emitted
 */
final private[over] class OverChanges(
    key: Option[UnsafeProjection],
    updateBefore: Boolean,
    toOutput: UnsafeProjection) {

  private[this] val joined = new JoinedRow
  private[this] val kinds = new GenericInternalRow(1)

  def of(parts: Iterator[OverPart]): Iterator[InternalRow] = key match {
    case None => parts.flatMap { part =>
        val (gone, come) = rowsOf(part.net)
        emit(gone, RowKind.Delete) ++ emit(come, RowKind.Insert)
      }
    case Some(toKey) =>
      val waiting = new Waiting(toKey)
      parts.flatMap { part =>
        val rest = waiting.begin(part.partition)
        rest ++ waiting.paired(part.net)
      }.concat(waiting.end())
  }

  private def rowsOf(net: Tally.Map): (ArrayBuffer[UnsafeRow], ArrayBuffer[UnsafeRow]) = {
    val (gone, come) = (ArrayBuffer.empty[UnsafeRow], ArrayBuffer.empty[UnsafeRow])
    net.forEach { (row, tally) =>
      val rows = if (tally.count < 0L) gone else come
      (0L until math.abs(tally.count)).foreach(_ => rows += row)
    }
    (gone, come)
  }

  /** Rows of one partition without a partner so far. */
  final private class Waiting(toKey: UnsafeProjection) {
    private[this] var partition: OverPartition = _
    private[this] val gone = new java.util.LinkedHashMap[UnsafeRow, UnsafeRow]()
    private[this] val come = new java.util.LinkedHashMap[UnsafeRow, UnsafeRow]()

    /** What is left of the partition before. */
    def begin(next: OverPartition): Iterator[InternalRow] =
      if (partition eq next) Iterator.empty
      else {
        val rest = end()
        partition = next
        rest
      }

    def end(): Iterator[InternalRow] = {
      val (deleted, inserted) = (ArrayBuffer.from(values(gone)), ArrayBuffer.from(values(come)))
      gone.clear()
      come.clear()
      emit(deleted, RowKind.Delete) ++ emit(inserted, RowKind.Insert)
    }

    private def values(rows: java.util.Map[UnsafeRow, UnsafeRow]) = rows.values.iterator.asScala

    def paired(net: Tally.Map): Iterator[InternalRow] = {
      val (leaving, coming) = rowsOf(net)
      val updates = ArrayBuffer.empty[(UnsafeRow, UnsafeRow)]
      val deleted = alone(leaving, gone, come)((row, partner) => updates += (row -> partner))
      val inserted = alone(coming, come, gone)((row, partner) => updates += (partner -> row))
      emit(deleted, RowKind.Delete) ++ updates.iterator.flatMap { case (before, row) =>
        updated(before, row)
      } ++
        emit(inserted, RowKind.Insert)
    }

    /**
     * Gives the rows that have a partner to `pair`, and keeps the others among `waiting`. Two of a key
     * there can only be the fault of an input: the first is returned, and goes or comes by itself.
     */
    private def alone(
        rows: ArrayBuffer[UnsafeRow],
        waiting: java.util.Map[UnsafeRow, UnsafeRow],
        partners: java.util.Map[UnsafeRow, UnsafeRow])(
        pair: (UnsafeRow, UnsafeRow) => Unit): ArrayBuffer[UnsafeRow] = rows.flatMap { row =>
      val its = toKey(row)
      val partner = partners.remove(its)
      if (partner == null) Option(waiting.put(its.copy(), row))
      else {
        pair(row, partner)
        None
      }
    }
  }

  private def updated(before: UnsafeRow, row: UnsafeRow): Iterator[InternalRow] =
    if (before == row) Iterator.empty
    else {
      val first = if (updateBefore) emit(Seq(before), RowKind.UpdateBefore) else Iterator.empty
      first ++ emit(Seq(row), RowKind.UpdateAfter)
    }

  private def emit(rows: collection.Seq[UnsafeRow], kind: Byte): Iterator[InternalRow] =
    rows.iterator.map { row =>
      kinds.setByte(0, kind)
      toOutput(joined(row, kinds))
    }
}
