package io.firesteel.skew

import org.apache.spark.sql.catalyst.InternalRow

/** A column in the merge: its distinct values and the states of its functions. */
private[skew] abstract class MergeColumn(val isNumber: Boolean, groups: Groups, salt: Long)
  extends NumberBatch.Fresh {

  private[this] val asNumbers: DistinctNumbers =
    if (isNumber) new DistinctNumbers(groups.hash, salt) else null
  private[this] val asBytes: DistinctBytes =
    if (isNumber) null else new DistinctBytes(groups.hash, salt)

  private[this] val batch = if (isNumber) new NumberBatch(asNumbers) else null

  val values: DistinctValues = if (isNumber) asNumbers else asBytes

  // The value read last: a chunk of numbers with its mask, or the place of its bytes.
  private[this] var chunk = 0L
  private[this] var mask = 0
  private[this] var offset = 0L
  private[this] var length = 0
  private[this] var hash = 0L
  private[this] var added = 0 // since the last flush
  private[this] var place = 0 // the group read last, among the groups of one value

  /** Values with groups that may be added before the next flush. */
  final def room: Int = NumberBatch.capacity - added

  /** Updates the functions with the new values. */
  final def flush(): Unit = {
    added = 0
    if (isNumber) batch.add(this)
  }

  /** Reads `count` values, each with its group. */
  final def add(count: Int, groupAt: Array[Int], in: BlockReader): Unit = {
    var left = count
    while (left > 0) {
      put(groupAt(readEntry(in)), in)
      left -= 1
    }
  }

  /** Reads a value. Its groups follow. */
  final def readValue(in: BlockReader): Unit = {
    place = 0
    if (isNumber) readNumber(in) else readBytes(in)
  }

  /** Reads `count` groups of the value. */
  final def addGroups(count: Int, groupAt: Array[Int], in: BlockReader): Unit = {
    var left = count
    while (left > 0) {
      put(groupAt(readGroup(in)), in)
      left -= 1
    }
  }

  /** Reads one value with its group and writes it. */
  final def pass(column: Int, groupAt: Array[Int], in: BlockReader, writer: BlockWriter): Unit =
    pass(column, groupAt(readEntry(in)), in, writer)

  /** Reads a value with all of its groups and writes them. */
  final def passGroups(
      column: Int,
      groupAt: Array[Int],
      in: BlockReader,
      writer: BlockWriter): Unit = {
    readValue(in)
    var left = in.int()
    while (left > 0) {
      pass(column, groupAt(readGroup(in)), in, writer)
      left -= 1
    }
  }

  private def put(group: Int, in: BlockReader): Unit = {
    added += 1
    if (isNumber) batch.put(group, chunk, mask)
    else if (asBytes.add(group, in.base, offset, length, hash))
      newBytes(group, in.base, offset, length)
  }

  private def pass(column: Int, group: Int, in: BlockReader, writer: BlockWriter): Unit =
    if (isNumber) writer.numbers(column, group, chunk, mask)
    else writer.bytes(column, group, in.base, offset, length, hash)

  /** Reads a value with its group and returns the group's number in the block. */
  private def readEntry(in: BlockReader): Int =
    if (!isNumber) {
      val group = in.int()
      readBytes(in)
      group
    } else {
      val entry = in.int()
      if ((entry & 1) == 0) readNumber(in)
      else {
        chunk = in.signed()
        mask = in.int()
      }
      entry >>> 1
    }

  private def readGroup(in: BlockReader): Int = {
    place += in.signed().toInt
    place
  }

  private def readNumber(in: BlockReader): Unit = {
    val number = in.signed()
    chunk = DistinctNumbers.chunkOf(number)
    mask = DistinctNumbers.bitOf(number)
  }

  private def readBytes(in: BlockReader): Unit = {
    length = in.int()
    offset = in.skip(length)
    hash = Hashes.ofBytes(in.base, offset, length)
  }

  def bytes: Long

  /** The functions' states for a group, in a row that the next call may reuse. */
  def state(group: Int): InternalRow

  /** Removes the functions' states. */
  def forget(): Unit

  protected def newBytes(group: Int, base: AnyRef, offset: Long, length: Int): Unit
}
