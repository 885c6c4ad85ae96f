package io.firesteel.skew

import io.firesteel.core.rows.Mix64
import org.apache.spark.sql.catalyst.expressions.XXH64

/** Hashes of groups and of their distinct values. They are the same in every task. */
private[skew] object Hashes {

  /** The hash of a number or of a chunk ([[DistinctNumbers]]). */
  def ofNumber(number: Long): Long = Mix64(number)

  def ofBytes(base: AnyRef, offset: Long, length: Int): Long =
    XXH64.hashUnsafeBytes(base, offset, length, 42L)

  /** The hash of a number in a group. */
  def ofPair(groupHash: Int, number: Long): Long = Mix64(number + groupHash * 0x9e3779b97f4a7c15L)

  /**
   * The task above the exchange, of `n`, for a value of a group.
   *
   * The values of one group are spread over all tasks, and so are the groups of one value. The two
   * hashes are added: groups that share a task share it for every value. So a block has many groups
   * for a value, and the same groups for the next value, which makes both short.
   */
  def task(n: Int)(groupHash: Int, valueHash: Long): Int = {
    val sum = upper(Mix64(groupHash.toLong), n) + upper(valueHash, n)
    if (sum >= n) sum - n else sum
  }

  /** The spill file, of 16, for a value. Each level uses other bits of the hash. */
  def file(level: Int)(groupHash: Int, valueHash: Long): Int =
    ((ofPair(groupHash, valueHash) >>> (4 * level)) & 15L).toInt

  /**
   * The salt of the tables of a level: 0 below the exchange, 1 above it, one more for each spill.
   */
  def salt(level: Int): Long = if (level == 0) 0L else Mix64(level.toLong)

  /** A slot in a table of `2^^bits` slots, from all bits of the hash. */
  def slot(hash: Long, bits: Int): Int = ((hash * 0x9e3779b97f4a7c15L) >>> (64 - bits)).toInt

  /** A number below `n`, from the upper 31 bits. */
  private def upper(hash: Long, n: Int): Int = (((hash >>> 33) * n) >>> 31).toInt
}
