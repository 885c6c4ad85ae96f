package io.firesteel.lookup

import java.util.Optional

import scala.annotation.unused

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

/**
 * A connector that decides which task looks up which key, so that each task need cache and read
 * only its share of the store.
 *
 * It is asked when a query says `shuffle = true`. When the partitioner is not used, every task must
 * be able to answer every key: `LookupContext.customShuffle` says which it is.
 *
 * Flink: FLIP-462, `SupportsLookupCustomShuffle`.
 */
trait SupportsLookupCustomShuffle { self: SupportsLookup =>

  /** The partitioner; empty leaves the input distributed as it is. */
  def getPartitioner(): Optional[InputDataPartitioner]

  /**
   * The same for a connector whose partitioner depends on which keys were chosen.
   *
   * @param keys the columns that `partition` will get, in the order of the table's columns
   */
  def getPartitioner(@unused keys: StructType): Optional[InputDataPartitioner] = getPartitioner()

  /**
   * Names of the columns that the partitioner needs. When the join does not give them all, the
   * partitioner is not used, and `firesteel.explain` says so.
   */
  def partitionKeys(): Array[String] = Array.empty
}

/**
 * Says in which partition the rows with a key are looked up.
 *
 * Flink: `SupportsLookupCustomShuffle.InputDataPartitioner`.
 */
trait InputDataPartitioner extends Serializable {

  /**
   * The partition of a key.
   *
   * @param joinKeys the lookup keys alone, constants included, in the order of the table's columns.
   *   None of them is null: rows with a null in a key are not looked up. Not to be kept: the row
   *   is reused.
   * @param numPartitions number of partitions, which is the number of tasks
   * @return from 0 until `numPartitions`; anything else fails the query
   */
  def partition(joinKeys: InternalRow, numPartitions: Int): Int

  /** Whether equal keys always get the same partition. */
  def isDeterministic(): Boolean = true
}
