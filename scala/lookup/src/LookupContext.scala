package io.firesteel.lookup

import org.apache.spark.sql.connector.expressions.filter.Predicate
import org.apache.spark.sql.types.StructType

/**
 * The columns and conditions that one query needs from a connector.
 *
 * @param keys the columns to look up by, in the order of the table's columns
 * @param columns the wanted columns, keys included; answers have these columns in this order
 * @param filters conditions on the table alone. A connector may use them to answer fewer rows, or
 *   ignore them: the join applies them to the answers in every case.
 * @param customShuffle whether the connector's partitioner '''is applied'''. If true, a task is
 *   asked only keys of its own partition. If false, a task may be asked any key.
 * @param numPartitions the partitions of the custom shuffle; 0 if it is not applied
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
 * @param index number of this task from 0; under custom shuffle, number of its partition
 * @param count number of tasks; under custom shuffle, the number of partitions that the partitioner
 *   was given
 * @param attempt number of earlier attempts of the task
 * @param name for logs
 */
final case class TaskInfo(index: Int, count: Int, attempt: Int, name: String)
