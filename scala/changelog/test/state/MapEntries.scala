package io.firesteel.changelog.state

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The entries of an operator in a map instead of a store, for tests of what is done with them. */
final class MapEntries(override val expires: Boolean = false) extends StateEntries(null, null) {

  private val entries = mutable.Map.empty[UnsafeRow, UnsafeRow]

  /** How often an entry has been asked for. */
  var visits: Int = 0

  def size: Int = entries.size

  /** Takes away entries, as when they have expired. */
  def expire(isOne: UnsafeRow => Boolean): Unit = entries --= entries.keys.filter(isOne).toSeq

  override def get(key: UnsafeRow): UnsafeRow = {
    visits += 1
    entries.get(key).map(_.copy()).orNull
  }

  override def put(key: UnsafeRow, value: UnsafeRow): Unit = entries(key.copy()) = value.copy()
  override def remove(key: UnsafeRow): Unit = { val _ = entries.remove(key) }
  override def present(rows: Long): Long = if (expires) math.max(rows, 0L) else rows
}
