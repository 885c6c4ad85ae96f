package io.firesteel.lookup

import java.util.Optional

import scala.annotation.unused

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.StructType

/**
 * A connector that decides which task looks up which key. Each task then caches and reads only its
 * share of the store.
 *
 * It is used if a query says `shuffle = true`. If the partitioner is not applied, every task must
 * answer every key; `LookupContext.customShuffle` says whether it is applied.
 *
 * Flink: FLIP-462, `SupportsLookupCustomShuffle`.
 */
trait SupportsLookupCustomShuffle { self: SupportsLookup =>

  /** The partitioner. If empty, the input keeps its distribution. */
  def getPartitioner(): Optional[InputDataPartitioner]

  /**
   * The partitioner for these keys, for a connector whose partitioner depends on them.
   *
   * @param keys the columns that `partition` gets, in the order of the table's columns
   */
  def getPartitioner(@unused keys: StructType): Optional[InputDataPartitioner] = getPartitioner()

  /**
   * Names of the columns that the partitioner needs. If the join has no value for one of them, the
   * partitioner is not applied, and `firesteel.explain` gives this reason.
   */
  def partitionKeys(): Array[String] = Array.empty
}

/**
 * Chooses the partition in which rows with a key are looked up.
 *
 * Flink: `SupportsLookupCustomShuffle.InputDataPartitioner`.
 */
trait InputDataPartitioner extends Serializable {

  /**
   * The partition of a key.
   *
   * @param joinKeys the lookup keys alone, constants included, in the order of the table's columns.
   *   None of them is null. Do not keep the row: it is reused.
   * @param numPartitions number of partitions, which is the number of tasks
   * @return from 0 until `numPartitions`; any other number fails the query
   */
  def partition(joinKeys: InternalRow, numPartitions: Int): Int

  /** Whether equal keys always get the same partition. */
  def isDeterministic(): Boolean = true
}
