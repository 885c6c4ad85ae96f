package io.firesteel.skew

import io.firesteel.core.rows.KeyIndex
import java.util.Arrays

/**
 * Distributes the states of groups and the distinct values to buckets. It writes a block when a
 * bucket has enough of them.
 *
 * A block needs no other block to be read, so it can pass through any shuffle:
 *
 *  1. the keys of the groups in it, which the rest of the block refers to by number
 *  1. for each column, first values, each with its group, then values with a code, each with all of
 *     its groups
 *  1. the states of groups
 *
 * @param areNumbers for each column whether its values are numbers; otherwise they are bytes
 * @param bucketOf the bucket, from the hash of a group and the hash of a value
 * @param out receives a bucket and its block
 */
private[skew] final class BlockWriter(
    groups: Groups,
    areNumbers: Array[Boolean],
    buckets: Int,
    bucketOf: (Int, Long) => Int,
    out: (Int, Array[Byte]) => Unit) {
  import BlockWriter._

  private[this] val memory = new Memory
  private[this] val pending = Array.fill(buckets)(new Bucket(areNumbers, memory))
  // With many buckets and columns each needs much memory only for a short time.
  private[this] val keep = math.max(allValues / (buckets * math.max(areNumbers.length, 1)), 16)
  private[this] val least = math.max(math.min(leastValues, allPending / buckets), fewestValues)
  private[this] val limit = math.min(math.max(allValues / buckets, least), mostValues)
  // `places(g)` is the number of group g in the current block, if `stamps(g)` is that block.
  private[this] var stamps = new Array[Int](64)
  private[this] var places = new Array[Int](64)
  private[this] var block = 0
  private[this] val head = new BlockBytes
  private[this] val body = new BlockBytes

  /** Bytes of what waits for its block. */
  def bytes: Long = memory.bytes

  /** Adds numbers of one chunk ([[DistinctNumbers]]). */
  def numbers(column: Int, group: Int, chunk: Long, mask: Int): Unit = {
    val at = bucketOf(groups.hash(group), Hashes.ofNumber(chunk))
    val bucket = pending(at)
    bucket.columns(column).addNumbers(group, chunk, mask)
    counted(at, bucket)
  }

  /**
   * Adds a value that is bytes.
   *
   * @param hash of the value
   */
  def bytes(
      column: Int,
      group: Int,
      base: AnyRef,
      offset: Long,
      length: Int,
      hash: Long): Unit = {
    val at = bucketOf(groups.hash(group), hash)
    val bucket = pending(at)
    bucket.columns(column).addBytes(group, base, offset, length)
    // A long value counts as several, which keeps blocks small.
    bucket.size += length / 64
    counted(at, bucket)
  }

  /**
   * Adds a value by its code.
   *
   * @param values the values of the codes; they must stay until this writer is flushed
   * @param hash of the value
   */
  def code(column: Int, group: Int, values: KeyIndex, code: Int, hash: Long): Unit = {
    val at = bucketOf(groups.hash(group), hash)
    val bucket = pending(at)
    bucket.columns(column).coded.add(group, values, code)
    // Again a long value counts as several: its group may be the only one of that value in the
    // block.
    if (!values.isNumber) bucket.size += values.key(code).getSizeInBytes / 64
    counted(at, bucket)
  }

  def state(group: Int): Unit = {
    val at = bucketOf(groups.hash(group), 0L)
    val bucket = pending(at)
    bucket.addState(group)
    counted(at, bucket)
  }

  /** Adds the states of the groups from `from` up to, but not including, `until`. */
  def states(from: Int, until: Int): Unit = {
    var group = from
    while (group < until) {
      state(group)
      group += 1
    }
  }

  /** Writes all pending blocks, and keeps no memory for others. */
  def flush(): Unit = pending.indices.foreach { at =>
    if (pending(at).size > 0) write(at, pending(at))
    pending(at).columns.foreach(_.clear(0))
  }

  private def counted(at: Int, bucket: Bucket): Unit = {
    bucket.size += 1
    if (bucket.size >= limit) write(at, bucket)
  }

  private def write(at: Int, bucket: Bucket): Unit = {
    block += 1
    if (stamps.length < groups.size) {
      stamps = Arrays.copyOf(stamps, math.max(groups.size, stamps.length * 2))
      places = Arrays.copyOf(places, stamps.length)
    }
    head.clear()
    body.clear()
    var named = 0
    def place(group: Int): Int = {
      if (stamps(group) != block) {
        stamps(group) = block
        places(group) = named
        named += 1
        groups.writeKey(group, head)
      }
      places(group)
    }
    bucket.columns.foreach { column =>
      body.putNumber(column.size.toLong)
      var i = 0
      while (i < column.size) {
        column.write(place(column.group(i)).toLong, i, body)
        i += 1
      }
      column.clear(keep)
      column.coded.write(place, body, keep)
    }
    body.putNumber(bucket.states.toLong)
    var i = 0
    while (i < bucket.states) {
      body.putNumber(place(bucket.state(i)).toLong)
      groups.writeState(bucket.state(i), body)
      i += 1
    }
    bucket.states = 0
    bucket.size = 0
    val count = new BlockBytes
    count.putNumber(named.toLong)
    out(at, count.toArray ++ head.toArray ++ body.toArray)
  }
}

private[skew] object BlockWriter {

  // Bounds of the values that wait for their block: in all buckets together, and for one bucket.
  private val allValues = 2 << 20
  private val leastValues = 4 << 10
  private val allPending = 4 << 20 // with many buckets
  private val fewestValues = 256
  private val mostValues = 32 << 10
  private val mostBytesKept = 64 // for each value for which memory is kept

  /** Counts the bytes of arrays. */
  private final class Memory {
    var bytes = 0L
  }

  private final class Bucket(numbers: Array[Boolean], memory: Memory) {
    val columns: Array[Column] = numbers.map(new Column(_, memory))
    private[this] var stateGroups = new Array[Int](16)
    var states = 0
    var size = 0

    def state(i: Int): Int = stateGroups(i)

    def addState(group: Int): Unit = {
      if (states == stateGroups.length) stateGroups = Arrays.copyOf(stateGroups, states * 2)
      stateGroups(states) = group
      states += 1
    }
  }

  /** There may be many, of which few have values: arrays are made for the first value. */
  private final class Column(isNumber: Boolean, memory: Memory) {
    private[this] var groups = Array.emptyIntArray
    private[this] var values = Array.emptyLongArray // chunks, or where the bytes end
    private[this] var masks = Array.emptyIntArray // of numbers
    private[this] var bytes: BlockBytes = _ // of others
    private[this] val entryBytes = if (isNumber) 16L else 12L

    val coded = new CodedPairs
    var size = 0

    def group(i: Int): Int = groups(i)

    def addNumbers(group: Int, chunk: Long, mask: Int): Unit = {
      reserve()
      groups(size) = group
      values(size) = chunk
      masks(size) = mask
      size += 1
    }

    def addBytes(group: Int, base: AnyRef, offset: Long, length: Int): Unit = {
      reserve()
      val before = bytes.array.length
      bytes.putBytes(base, offset, length)
      memory.bytes += bytes.array.length - before
      groups(size) = group
      values(size) = bytes.size.toLong
      size += 1
    }

    private def reserve(): Unit = if (size == groups.length) {
      val length = math.max(16, size * 2)
      memory.bytes += (length - groups.length) * entryBytes
      groups = Arrays.copyOf(groups, length)
      values = Arrays.copyOf(values, length)
      if (isNumber) masks = Arrays.copyOf(masks, length)
      else if (bytes == null) {
        bytes = new BlockBytes(64)
        memory.bytes += bytes.array.length
      }
    }

    /** A single number is written as it is; several of one chunk as the chunk and a mask. */
    def write(place: Long, i: Int, out: BlockBytes): Unit =
      if (!isNumber) {
        val from = if (i == 0) 0 else values(i - 1).toInt
        val length = values(i).toInt - from
        out.putNumber(place)
        out.putNumber(length.toLong)
        out.putBytes(bytes, from, length)
      } else if (Integer.bitCount(masks(i)) == 1) {
        out.putNumber(place << 1)
        out.putSigned(DistinctNumbers.numberOf(values(i), masks(i)))
      } else {
        out.putNumber(place << 1 | 1L)
        out.putSigned(values(i))
        out.putNumber(masks(i) & 0xffffffffL)
      }

    /** Removes all values and keeps memory for `keep` of them. */
    def clear(keep: Int): Unit = {
      size = 0
      if (groups.length > keep || bytes != null && bytes.array.length > keep * mostBytesKept) {
        memory.bytes -= groups.length * entryBytes + (if (bytes == null) 0 else bytes.array.length)
        groups = Array.emptyIntArray
        values = Array.emptyLongArray
        masks = Array.emptyIntArray
        bytes = null
      } else if (bytes != null) bytes.clear()
    }
  }
}
