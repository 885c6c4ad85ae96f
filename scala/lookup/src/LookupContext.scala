package io.firesteel.lookup

import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.types.StructType

/**
 * What one query wants of a connector.
 *
 * @param keys the columns to look up by, in the order of the table's columns
 * @param columns the columns wanted, keys included; answers have these, in this order
 * @param filters conditions on the table alone. A connector may use them to answer fewer rows, or
 *   ignore them: they are applied to its answers in any case.
 * @param customShuffle whether the connector's partitioner '''is applied''': then a task is asked
 *   only keys of its own partition. If not, every task is asked any key.
 * @param numPartitions the partitions of the custom shuffle; 0 when it is not applied
 */
final class LookupContext(
    val keys: StructType,
    val columns: StructType,
    val filters: Array[Predicate],
    val customShuffle: Boolean,
    val numPartitions: Int)

/**
 * The task that opens a lookup function.
 *
 * @param index number of this task from 0; under custom shuffle, of its partition
 * @param count number of tasks; under custom shuffle, of the partitions that the partitioner was
 *   given
 * @param attempt how often Spark has tried the task before
 * @param name for logs
 */
final case class TaskInfo(index: Int, count: Int, attempt: Int, name: String)
