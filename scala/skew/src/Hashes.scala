package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.XXH64

/**
 * Hashes of a distinct value in its group, the same in every task. The upper bits say to which task
 * above the exchange a value goes, the lower ones to which file when it is spilled.
 */
private[skew] object Hashes {

  def ofNumber(group: Int, number: Long): Long = mix(number + group * 0x9e3779b97f4a7c15L)

  def ofBytes(group: Int, base: AnyRef, offset: Long, length: Int): Long =
    XXH64.hashUnsafeBytes(base, offset, length, group.toLong)

  def ofGroup(group: Int): Long = mix(group.toLong)

  /** The finalizer of MurmurHash3: each bit in changes about half of those out. */
  private def mix(number: Long): Long = {
    var h = number
    h = (h ^ (h >>> 33)) * 0xff51afd7ed558ccdL
    h = (h ^ (h >>> 33)) * 0xc4ceb9fe1a85ec53L
    h ^ (h >>> 33)
  }

  /** One of `n` by the upper 31 bits. */
  def upper(hash: Long, n: Int): Int = (((hash >>> 33) * n) >>> 31).toInt

  /** One of 16 by four of the lower bits, others at each level. */
  def lower(hash: Long, level: Int): Int = ((hash >>> (4 * level)) & 15L).toInt

  /** A place in a table of `2^^bits` slots, by all bits. */
  def slot(hash: Long, bits: Int): Int = ((hash * 0x9e3779b97f4a7c15L) >>> (64 - bits)).toInt
}
