package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.Murmur3HashFunction
import org.apache.spark.sql.types.IntegerType

/**
 * For each partition of an exchange, a number that Spark's hash partitioning sends there.
 *
 * With it a task chooses the partition of a row, and the exchange stays an ordinary one that
 * adaptive execution can coalesce. With another number of partitions than planned, rows of one name
 * still stay together.
 */
private[skew] object Buckets {

  private val seed = 42 // the seed of Spark's HashPartitioning

  def names(partitions: Int): Array[Int] = {
    val names = new Array[Int](partitions)
    val found = new Array[Boolean](partitions)
    var left = partitions
    var name = 0
    // Each name finds a missing partition with probability left / partitions.
    while (left > 0) {
      val hash = Murmur3HashFunction.hash(name, IntegerType, seed).toInt
      val partition = Math.floorMod(hash, partitions)
      if (!found(partition)) {
        found(partition) = true
        names(partition) = name
        left -= 1
      }
      name += 1
    }
    names
  }
}
