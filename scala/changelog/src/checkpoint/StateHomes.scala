package io.firesteel.changelog.checkpoint

import io.firesteel.core.rows.ColumnProjection
import io.firesteel.changelog.state.{OperatorRecord, SharedLayout}
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, GetStructField, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.types.StructType

/**
 * The partition in which the operator looks for an entry: the one that receives the rows of its
 * keys.
 *
 * @param columns places in the state's key of the columns by whose hash rows are distributed
 * @param replicated numbers of the store's tables with the same entries in every partition
 * @param shared of a store that several operators share, the columns of each of them: the place in
 *   the key, and in a struct there. The first column of the key has the operator's number
 */
final private[checkpoint] case class StateHomes(
    key: StructType,
    columns: Seq[Int],
    replicated: Set[Int] = Set.empty,
    shared: Seq[Seq[Seq[Int]]] = Nil) {

  /**
   * Whether an entry is in every partition. The table's number comes after the distribution
   * columns.
   */
  def isEverywhere(entry: UnsafeRow): Boolean =
    replicated.nonEmpty && replicated(entry.getInt(columns.size))

  /**
   * Without such columns an operator has its only entry in the first partition, and reads no other.
   */
  def isOne: Boolean = columns.isEmpty

  def among(partitions: Int): UnsafeRow => Int = {
    if (isOne) (_: UnsafeRow) => 0
    else if (shared.isEmpty) homeBy(columns.map(Seq(_)), partitions)
    else {
      val homes = shared.map(homeBy(_, partitions))
      row => homes(row.getInt(0))(row)
    }
  }

  private def homeBy(columns: Seq[Seq[Int]], partitions: Int): UnsafeRow => Int = {
    val keys = columns.map { place =>
      val column: Expression = BoundReference(place.head, key(place.head).dataType, nullable = true)
      place.tail.foldLeft(column)(GetStructField(_, _))
    }
    val home = ColumnProjection(
      Seq(HashPartitioning(keys, partitions).partitionIdExpression))
    row => home(row).getInt(0)
  }
}

private[checkpoint] object StateHomes {

  /** Operators whose entries are distributed by their whole key; the first three are Spark's. */
  private val byWholeKey = Set(
    "stateStoreSave",
    "dedupe",
    "dedupeWithinWatermark",
    "changelogNormalize",
    "changelogTable")

  /**
   * Number of leading key columns by which operators with several entries per key are distributed.
   */
  private val byFirst =
    Map("changelogAggregate" -> "aggregate_key_", "changelogTopN" -> "topn_partition_")

  /** For an operator with a record in the checkpoint. */
  def of(record: OperatorRecord, key: StructType): StateHomes = StateHomes(
    key,
    if (record.members.size < 2) record.distribution.map(key.fieldIndex)
    else record.distribution.indices,
    record.tables.indices.filter(i => record.replicated.contains(record.tables(i))).toSet,
    if (record.members.size < 2) Nil
    else (record.distribution +: record.members.tail.map(_.distribution))
      .map(_.map(SharedLayout.placeOf(key, _)))
  )

  /** For an operator without a record, by its name in the checkpoint; none if it is unknown. */
  def of(operator: String, key: StructType): Option[StateHomes] =
    if (byWholeKey(operator)) Some(StateHomes(key, key.indices))
    else byFirst.get(operator).map { prefix =>
      StateHomes(key, key.indices.filter(key(_).name.startsWith(prefix)))
    }.filter(_.columns.nonEmpty)
}
