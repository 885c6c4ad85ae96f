package io.firesteel.rank

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * `RANK() <= limit`: the first `limit` rows and every row equal to the last of them.
 *
 * A heap keeps `limit` rows, and a list keeps the rows that tie with its worst row. When the worst
 * row leaves the heap, its ties stay only if the new worst row equals it. Otherwise `limit` rows
 * are better than the ties.
 *
 * Memory: `limit` rows per key and the ties. The ties are unbounded, so the owner checks the bytes.
 */
private[rank] final class FirstRowsWithTies(
    arena: RowArena,
    order: RowOrder,
    limit: Int,
    rows: StoredRows)
  extends FirstRows(arena, order, limit, rows) {

  def this(arena: RowArena, order: RowOrder, limit: Int) =
    this(arena, order, limit, new StoredRows(arena, linked = true))

  override protected def tiesMatter: Boolean = true

  override protected def tiesOf(group: Long): Long = arena.getLong(group + Group.ties)

  override protected def offerTie(group: Long, row: UnsafeRow): Int = {
    addTie(group, rows.store(row))
    1
  }

  override protected def replaceWorst(
      group: Long,
      slots: Long,
      prefix: Long,
      row: UnsafeRow): Int = {
    val worstPrefix = prefixAt(slots, 0)
    val worst = rowAt(slots, 0)
    siftDown(slots, limit, prefix, rows.store(row))
    setBar(group, bar(prefixAt(slots, 0), tiesMatter))
    if (compare(prefixAt(slots, 0), rowAt(slots, 0), worstPrefix, worst) == 0) {
      addTie(group, worst)
      1
    } else {
      val ties = rows.releaseAll(tiesOf(group))
      arena.putLong(group + Group.ties, 0L)
      rows.release(worst)
      -ties
    }
  }

  private def addTie(group: Long, row: Long): Unit = {
    rows.link(row, tiesOf(group))
    arena.putLong(group + Group.ties, row)
  }
}
