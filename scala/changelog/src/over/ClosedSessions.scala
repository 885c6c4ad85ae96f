package io.firesteel.changelog.over

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Takes the rows of sessions that the watermark has closed out of state. All rows of a session go at
 * once: of an open one the first row gives the start.
 *
 * The rows of a partition are in the order of their own sessions' starts, so the closed sessions are
 * its first rows. The functions' buffers before a later block stay right, because a session does not
 * go on from the one before it. Every partition is read. Memory: the keys of the partitions.
 *
 * @param startAt the place of a row's own start, and `endAt` of its own end
 * @param stays whether a session stays for a gap after its end: a row that is not late may join it
 * @param watermark in microseconds; it closes the sessions that end up to it
 */
final private[over] class ClosedSessions(
    state: OverState,
    startAt: Int,
    endAt: Int,
    stays: Boolean,
    watermark: Long) {

  def evict(): Unit = state.partitions().foreach(evict)

  private def evict(partition: UnsafeRow): Unit = {
    val (blocks, next) = state.read(partition)
    def rowsOf(block: OverBlock) =
      if (block.rows != null) block.rows else state.rowsOf(partition, block.number)
    val (first, from) = firstOpen(blocks.map(block => () => rowsOf(block)))
    if (first > 0 || from > 0) {
      val rest = if (first == blocks.size) Nil else rowsOf(blocks(first)).drop(from).toSeq
      val left = blocks.size - first
      blocks.take(first).foreach(remove(partition, _))
      if (left == 0) state.remove(partition)
      else if (left == 1) {
        remove(partition, blocks(first))
        state.putRows(partition, rest)
      } else {
        state.putBlock(partition, blocks(first).number, rest)
        val now = new OverBlock(blocks(first).number, blocks(first).last, null)
        state.putList(partition, next, now +: blocks.drop(first + 1))
      }
    }
  }

  private def remove(partition: UnsafeRow, block: OverBlock): Unit =
    if (block.number != 0) state.removeBlock(partition, block.number)

  /** The block and the place in it of the first row whose session is open. */
  private def firstOpen(blocks: Seq[() => Array[OverEntry]]): (Int, Int) = {
    var (open, last, until) = ((0, 0), Long.MinValue, Long.MinValue)
    var (block, isOpen) = (0, false)
    while (!isOpen && block < blocks.size) {
      val rows = blocks(block)()
      var i = 0
      while (!isOpen && i < rows.length) {
        val row = rows(i).row
        val (start, end) = (row.getLong(startAt), row.getLong(endAt))
        if (start > last) open = (block, i)
        last = last.max(end)
        until = until.max(if (stays) end + (end - start) else end)
        isOpen = until > watermark
        i += 1
      }
      block += 1
    }
    if (isOpen) open else (blocks.size, 0)
  }
}
