package io.firesteel.skew

import org.apache.spark.sql.catalyst.InternalRow

/** One column in the merge: its distinct values, and what its functions make of them. */
private[skew] abstract class MergeColumn(val isNumber: Boolean, groups: Groups)
  extends NumberBatch.Fresh {

  private[this] val asNumbers: DistinctNumbers =
    if (isNumber) new DistinctNumbers(groups.hash) else null
  private[this] val asBytes: DistinctBytes = if (isNumber) null else new DistinctBytes

  private[this] val batch = if (isNumber) new NumberBatch(asNumbers) else null

  val values: DistinctValues = if (isNumber) asNumbers else asBytes

  /** Reads `count` entries, and lets the functions see each new value. */
  final def add(count: Int, groupAt: Array[Int], in: BlockReader): Unit = {
    var left = count
    while (left > 0) {
      if (isNumber) {
        val place = in.int()
        val number = in.signed()
        val group = groupAt(place >>> 1)
        if ((place & 1) == 0)
          batch.put(group, DistinctNumbers.chunkOf(number), DistinctNumbers.bitOf(number))
        else batch.put(group, number, in.int())
      } else {
        val group = groupAt(in.int())
        val length = in.int()
        val offset = in.skip(length)
        val hash = Hashes.ofBytes(groups.hash(group), in.base, offset, length)
        if (asBytes.add(group, in.base, offset, length, hash))
          newBytes(group, in.base, offset, length)
      }
      left -= 1
    }
    if (isNumber) batch.add(this)
  }

  /** Reads one entry and hands it on. */
  final def pass(column: Int, groupAt: Array[Int], in: BlockReader, writer: BlockWriter): Unit =
    if (isNumber) {
      val place = in.int()
      val number = in.signed()
      val group = groupAt(place >>> 1)
      val isOne = (place & 1) == 0
      val chunk = if (isOne) DistinctNumbers.chunkOf(number) else number
      val mask = if (isOne) DistinctNumbers.bitOf(number) else in.int()
      writer.numbers(column, group, chunk, mask, Hashes.ofNumber(groups.hash(group), chunk))
    } else {
      val group = groupAt(in.int())
      val length = in.int()
      val offset = in.skip(length)
      val hash = Hashes.ofBytes(groups.hash(group), in.base, offset, length)
      writer.bytes(column, group, in.base, offset, length, hash)
    }

  def bytes: Long

  /** The functions' states for a group, in a row that the next call may use again. */
  def state(group: Int): InternalRow

  /** Forgets what the functions have seen. */
  def forget(): Unit

  protected def newBytes(group: Int, base: AnyRef, offset: Long, length: Int): Unit
}
