package io.firesteel.changelog.join

import io.firesteel.changelog.state.StateEntries
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The state of a join with several rows in an entry, as [[PackedLayout]] lays it out. A key of few
 * rows is read with one entry and written with one.
 */
final private[join] class PackedState(entries: StateEntries, spec: JoinSpec) extends JoinState {

  private[this] val packed = new PackedEntries(entries, spec)
  private[this] var key: UnsafeRow = _

  override val left: PackedSide = new PackedSide(packed, spec.left, 0)
  override val right: PackedSide = new PackedSide(packed, spec.right, 1)

  override def open(opened: UnsafeRow): Unit = {
    key = opened
    val entry = packed.get(key, PackedEntries.first)
    left.open(key, entry)
    right.open(key, entry)
  }

  /** Takes rows of a key out, whatever they matched. */
  def evict(of: UnsafeRow, areOver: Seq[UnsafeRow => Boolean]): Unit = {
    open(of)
    left.removeWhere(areOver.head)
    right.removeWhere(areOver.last)
    close()
  }

  override def close(): Unit = {
    left.flush()
    right.flush()
    if (left.first.isChanged || right.first.isChanged) packed.putFirst(key, left.first, right.first)
  }
}
