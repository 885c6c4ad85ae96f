package io.firesteel.skew

import io.firesteel.core.rows.Mix64
import org.apache.spark.sql.catalyst.expressions.XXH64

/** Hashes of groups and of their distinct values, the same in every task. */
private[skew] object Hashes {

  /** Of a number, which may be a chunk of them, see [[DistinctNumbers]]. */
  def ofNumber(number: Long): Long = Mix64(number)

  def ofBytes(base: AnyRef, offset: Long, length: Int): Long =
    XXH64.hashUnsafeBytes(base, offset, length, 42L)

  /** Of a number in a group. */
  def ofPair(groupHash: Int, number: Long): Long = Mix64(number + groupHash * 0x9e3779b97f4a7c15L)

  /**
   * Says to which of `n` tasks above the exchange a value of a group goes.
   *
   * One group is spread over all tasks by its values, and one value by its groups. As the two are added,
   * groups that share a place share it for every value: a block that names a value has many groups
   * for it, and the same ones for one value as for the next, so that both are short to write.
   */
  def task(n: Int)(groupHash: Int, valueHash: Long): Int = {
    val sum = upper(Mix64(groupHash.toLong), n) + upper(valueHash, n)
    if (sum >= n) sum - n else sum
  }

  /** Says to which of 16 files a value goes when it is spilled, another one at each level. */
  def file(level: Int)(groupHash: Int, valueHash: Long): Int =
    ((ofPair(groupHash, valueHash) >>> (4 * level)) & 15L).toInt

  /** For the tables of a level: 0 below the exchange, 1 above it, one more for each spill. */
  def salt(level: Int): Long = if (level == 0) 0L else Mix64(level.toLong)

  /** A place in a table of `2^^bits` slots, by all bits. */
  def slot(hash: Long, bits: Int): Int = ((hash * 0x9e3779b97f4a7c15L) >>> (64 - bits)).toInt

  /** One of `n` by the upper 31 bits. */
  private def upper(hash: Long, n: Int): Int = (((hash >>> 33) * n) >>> 31).toInt
}
