package io.firesteel.changelog.checkpoint

import io.firesteel.changelog.state.OperatorRecord
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.types.StructType

/**
 * In which partition of the state an entry is looked for: the one to which the rows of its keys come.
 *
 * @param columns places in the state's key of the columns by which rows are spread
 * @param replicated numbers of the store's tables whose entries are in every partition
 */
final private[checkpoint] case class StateHomes(
    key: StructType,
    columns: Seq[Int],
    replicated: Set[Int] = Set.empty) {

  /** Whether an entry is in every partition. Behind the columns by which rows are spread is its table. */
  def isEverywhere(entry: UnsafeRow): Boolean =
    replicated.nonEmpty && replicated(entry.getInt(columns.size))

  /** Without such columns an operator has its only entry in the first partition, and looks in no other. */
  def isOne: Boolean = columns.isEmpty

  def among(partitions: Int): UnsafeRow => Int = {
    if (isOne) (_: UnsafeRow) => 0
    else {
      val keys = columns.map(i => BoundReference(i, key(i).dataType, nullable = true))
      val home = UnsafeProjection.create(
        Seq(HashPartitioning(keys, partitions).partitionIdExpression))
      row => home(row).getInt(0)
    }
  }
}

private[checkpoint] object StateHomes {

  /** Operators that look for an entry by the whole of its key; the first three are Spark's. */
  private val byWholeKey = Set(
    "stateStoreSave",
    "dedupe",
    "dedupeWithinWatermark",
    "changelogNormalize",
    "changelogTable")

  /** The columns that come first in the key of an operator whose entries of a key are several. */
  private val byFirst =
    Map("changelogAggregate" -> "aggregate_key_", "changelogTopN" -> "topn_partition_")

  /** For an operator of ours, by what the checkpoint keeps of it. */
  def of(record: OperatorRecord, key: StructType): StateHomes = StateHomes(
    key,
    record.distribution.map(key.fieldIndex),
    record.tables.indices.filter(i => record.replicated.contains(record.tables(i))).toSet)

  /** For an operator without such a record, by its name in the checkpoint; none for one that is not known. */
  def of(operator: String, key: StructType): Option[StateHomes] =
    if (byWholeKey(operator)) Some(StateHomes(key, key.indices))
    else byFirst.get(operator).map { prefix =>
      StateHomes(key, key.indices.filter(key(_).name.startsWith(prefix)))
    }.filter(_.columns.nonEmpty)
}
