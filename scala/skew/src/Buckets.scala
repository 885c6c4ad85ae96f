package io.firesteel.skew

import org.apache.spark.sql.catalyst.expressions.Murmur3HashFunction
import org.apache.spark.sql.types.IntegerType

/**
 * One name for each partition of an exchange, which Spark's own hash partitioning sends there.
 *
 * So a task can say which partition a row goes to, and the exchange is still an ordinary one that
 * adaptive execution may coalesce. Were there another number of partitions than foreseen, rows of
 * one name would still stay together.
 */
private[skew] object Buckets {

  private val seed = 42 // of Spark's HashPartitioning

  def names(partitions: Int): Array[Int] = {
    val names = new Array[Int](partitions)
    val found = new Array[Boolean](partitions)
    var left = partitions
    var name = 0
    // Each name hits one that is missing with probability left / partitions.
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
