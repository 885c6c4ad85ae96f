package io.firesteel.lookup.files

import io.firesteel.lookup.InputDataPartitioner
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, UnsafeProjection}
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning
import org.apache.spark.sql.types.{DataType, StructType}

/**
 * Computes the bucket of a row by the expression with which Spark writes bucketed tables.
 *
 * That expression treats 0.0 and -0.0 as equal, and all NaNs, and skips nulls.
 *
 * @param places the bucket columns in the row, in the order in which they are hashed
 */
private[files] final case class BucketRule(
    places: Seq[Int],
    types: Seq[DataType],
    buckets: Int) {

  /** The compiled rule, for one thread: it has a single output row. */
  def compile(): InternalRow => Int = {
    val columns = places.zip(types).map { case (at, of) => BoundReference(at, of, nullable = true) }
    val id = HashPartitioning(columns, buckets).partitionIdExpression
    val projection = UnsafeProjection.create(Seq(id))
    row => projection(row).getInt(0)
  }
}

private[files] object BucketRule {

  /** The rule for rows of `schema`, if they have all the bucket columns. */
  def of(layout: BucketLayout, schema: StructType): Option[BucketRule] = {
    val places = layout.bucketColumns.map(schema.fieldNames.indexOf(_))
    if (places.contains(-1)) None
    else Some(BucketRule(places, places.map(schema(_).dataType), layout.buckets))
  }
}

/** Sends each key to the task of its bucket. Each bucket belongs to one task. */
private[files] final class BucketPartitioner(rule: BucketRule) extends InputDataPartitioner {

  // Tasks of one process may share a partitioner.
  @transient private lazy val bucketOf: ThreadLocal[InternalRow => Int] =
    ThreadLocal.withInitial(() => rule.compile())

  override def partition(joinKeys: InternalRow, numPartitions: Int): Int =
    bucketOf.get()(joinKeys) % numPartitions
}
