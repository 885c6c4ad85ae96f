package io.firesteel.skew

import io.firesteel.core.rows.{KeyIndex, KeyReader, MergeableAggregates}
import java.util.Arrays

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The groups of a task: their numbers, keys, and the buffers of the aggregates without `DISTINCT`.
 *
 * @param isNumber whether the key is one field of eight bytes, which needs no row
 * @param keyFields number of columns of the key
 */
private[skew] final class Groups(
    isNumber: Boolean,
    keyFields: Int,
    val aggregates: MergeableAggregates) {

  private[this] val index = new KeyIndex(isNumber, keyFields)

  /**
   * Whether a group has no states. Then a value with its group is enough for the group to be known
   * above.
   */
  val areKeysAlone: Boolean = aggregates.stateAttributes.isEmpty

  private[this] val noBuffer = aggregates.newBuffer()
  private[this] var buffers = new Array[InternalRow](64)
  private[this] val state = new UnsafeRow(aggregates.stateAttributes.size)
  private[this] val keyRow = new UnsafeRow(keyFields)

  // The size of a state that is an object, such as a list, is unknown. It may begin large, as a sketch
  // does, and may have everything of each of its rows.
  private[this] val bufferBytes: Long =
    if (areKeysAlone) 0L
    else if (aggregates.isFixed) 48L + 8L * 2 * aggregates.stateAttributes.size
    else 1024L + aggregates.state(aggregates.newBuffer()).getSizeInBytes
  // The size of their rows until it is measured.
  private[this] var objectBytes = 0L
  private[this] var toldBytes = 0L
  private[this] var nextLook = Groups.toldEvery

  def size: Int = index.size

  /** Estimate of the bytes held. */
  def bytes: Long = index.bytes + size * bufferBytes + objectBytes

  /** Whether states that are objects may have grown by much since `bytesNow`. */
  def haveGrown: Boolean = objectBytes - toldBytes >= Groups.toldEvery

  /** The same as `bytes`, for a caller that asks for this memory now. */
  def bytesNow(): Long = {
    toldBytes = objectBytes
    bytes
  }

  /**
   * Measures states that are objects, in place of what came into them. A sketch does not grow with its
   * rows. Returns whether they are smaller than was thought.
   */
  def measured(): Boolean = objectBytes >= nextLook && {
    var real = 0L
    var group = 0
    while (group < size) {
      real += 2L * aggregates.state(buffers(group)).getSizeInBytes
      group += 1
    }
    val less = real < objectBytes
    objectBytes = math.min(objectBytes, real)
    nextLook = math.max(Groups.toldEvery, 2 * objectBytes)
    less
  }

  /** Updates the states of a group with a row. */
  def update(group: Int, row: UnsafeRow): Unit = if (!areKeysAlone) {
    aggregates.update(buffers(group), row)
    if (aggregates.hasObjects) objectBytes += row.getSizeInBytes + Groups.elementBytes
  }

  /** The group of a key. */
  def of(key: UnsafeRow): Int = withBuffer(index.of(key))

  /** The group of a key that is a number. */
  def of(number: Long): Int = withBuffer(index.of(number))

  /** The group of null, among keys that are numbers. */
  def ofNull(): Int = withBuffer(index.ofNull())

  /** The group of a row. */
  def of(row: UnsafeRow, reader: KeyReader): Int = withBuffer(reader.groupOf(row, index))

  private def withBuffer(group: Int): Int = {
    if (!areKeysAlone) {
      if (group >= buffers.length) buffers = Arrays.copyOf(buffers, buffers.length * 2)
      if (buffers(group) == null) buffers(group) = aggregates.newBuffer()
    }
    group
  }

  /** The hash of a group's key, the same in every task. */
  def hash(group: Int): Int = index.hash(group)

  def buffer(group: Int): InternalRow = if (areKeysAlone) noBuffer else buffers(group)

  /** The key of a group, in a row that the next call may reuse. */
  def key(group: Int): UnsafeRow = index.key(group)

  def writeKey(group: Int, out: BlockBytes): Unit = {
    val key = index.key(group)
    if (!isNumber) writeRow(key, out)
    else {
      out.putNumber(if (key.isNullAt(0)) 1L else 0L)
      out.putSigned(key.getLong(0))
    }
  }

  /** The group of the key that `writeKey` wrote. */
  def readKey(in: BlockReader): Int =
    if (!isNumber) {
      val length = in.int()
      keyRow.pointTo(in.base, in.skip(length), length)
      of(keyRow)
    } else {
      val isNull = in.number() == 1L
      val number = in.signed()
      if (isNull) ofNull() else of(number)
    }

  /** Writes the states of a group's aggregates. */
  def writeState(group: Int, out: BlockBytes): Unit =
    writeRow(aggregates.state(buffer(group)), out)

  /** Merges the states that `writeState` wrote into a group. */
  def mergeState(group: Int, in: BlockReader): Unit = {
    val length = in.int()
    state.pointTo(in.base, in.skip(length), length)
    if (!areKeysAlone) aggregates.merge(buffers(group), state)
    if (aggregates.hasObjects) objectBytes += length
  }

  def clear(): Unit = {
    index.clear()
    buffers = new Array[InternalRow](64)
    objectBytes = 0L
    toldBytes = 0L
    nextLook = Groups.toldEvery
  }

  private def writeRow(row: UnsafeRow, out: BlockBytes): Unit = {
    out.putNumber(row.getSizeInBytes.toLong)
    out.putBytes(row.getBaseObject, row.getBaseOffset, row.getSizeInBytes)
  }
}

private object Groups {
  private val toldEvery = 1L << 20
  private val elementBytes = 48L // of an object for a row
}
