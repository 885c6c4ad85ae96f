package io.firesteel.changelog.over

import io.firesteel.changelog.fold.Tally
import io.firesteel.core.changes.RowKind

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, JoinedRow, UnsafeProjection, UnsafeRow}

/**
 * The changes of the result as rows with a kind. A row that leaves and a row that comes with the
 * same key are an update. Deletions are emitted first.
 *
 * @param key the upsert key of the result; none if there is none
 * @param toOutput a row of the result and its kind, as it is emitted
 */
final private[over] class OverChanges(
    key: Option[UnsafeProjection],
    updateBefore: Boolean,
    toOutput: UnsafeProjection) {

  private[this] val joined = new JoinedRow
  private[this] val kinds = new GenericInternalRow(1)

  def of(net: Tally.Map): Iterator[InternalRow] = {
    val (gone, come) = (ArrayBuffer.empty[UnsafeRow], ArrayBuffer.empty[UnsafeRow])
    net.forEach { (row, tally) =>
      val rows = if (tally.count < 0L) gone else come
      (0L until math.abs(tally.count)).foreach(_ => rows += row)
    }
    key.fold(emit(gone, RowKind.Delete) ++ emit(come, RowKind.Insert))(paired(gone, come, _))
  }

  private def paired(
      gone: ArrayBuffer[UnsafeRow],
      come: ArrayBuffer[UnsafeRow],
      toKey: UnsafeProjection): Iterator[InternalRow] = {
    val old = new java.util.HashMap[UnsafeRow, UnsafeRow]()
    gone.foreach(row => old.put(toKey(row).copy(), row))
    val pairs = come.map(row => (Option(old.remove(toKey(row))), row))
    val replaced = java.util.Collections.newSetFromMap(
      new java.util.IdentityHashMap[UnsafeRow, java.lang.Boolean]())
    pairs.foreach { case (before, _) => before.foreach(replaced.add) }
    emit(gone.filterNot(replaced.contains(_)), RowKind.Delete) ++ pairs.iterator.flatMap {
      case (None, row) => emit(Seq(row), RowKind.Insert)
      case (Some(before), row) =>
        val first = if (updateBefore) emit(Seq(before), RowKind.UpdateBefore) else Iterator.empty
        first ++ emit(Seq(row), RowKind.UpdateAfter)
    }
  }

  private def emit(rows: collection.Seq[UnsafeRow], kind: Byte): Iterator[InternalRow] =
    rows.iterator.map { row =>
      kinds.setByte(0, kind)
      toOutput(joined(row, kinds))
    }
}
