package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, TransformExpression}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.catalyst.util.InternalRowComparableWrapper
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.firesteel.{BucketingSettings, KeyedTable, KeyedTables}
import org.apache.spark.sql.internal.SQLConf

/**
 * The layout of a table whose source reports it (`SupportsReportPartitioning`): a partition for
 * each value of columns, or of functions of them such as `bucket(16, id)`.
 *
 * Spark's own comparison decides whether two layouts fit. Spark's partitioner brings rows to the
 * table, as it does itself with `spark.sql.sources.v2.bucketing.shuffle.enabled`.
 *
 * @param table one partition for each value; none of the values is unknown
 * @param keys the columns
 */
final private[shuffle] class Stored private (
    private val table: KeyedTable,
    val keys: Seq[Attribute])
  extends Layout {

  override def partitions: Int = table.numPartitions

  /**
   * Spark looks up a row's values as they are. That is wrong for columns whose equal values have
   * different bytes.
   */
  override def by(keys: Seq[Expression]): Option[Partitioning] =
    if (keys.forall(Stored.isExactColumn) && table.expressions.forall(Stored.isComputed))
      Some(table.partitioningOf(this.keys, keys))
    else None

  override def of(plan: SparkPlan, keys: Seq[Expression]): Option[SparkPlan] =
    if (!keys.forall(Stored.isExactColumn)) None
    else Stored.grouped(plan).filter { other =>
      KeyedTables.in(other.outputPartitioning).exists { there =>
        there.isGrouped && there.isCompatible(keys, table, this.keys)
      }
    }

  private val (functions, columns) =
    table.expressions.partition(_.isInstanceOf[TransformExpression])

  override def isByValue: Boolean = functions.isEmpty

  /**
   * Buckets are as even as hashes. Days, or one bucket for each value, are as uneven as the rows.
   */
  override def uncounted: Option[String] = {
    val areBuckets = columns.isEmpty && functions.forall {
      case transform: TransformExpression => transform.numBucketsOpt.isDefined
      case _ => false
    }
    if (isByValue || areBuckets) None else Some(table.expressions.map(_.sql).mkString(", "))
  }

  def values: Seq[InternalRowComparableWrapper] = table.values

  /** Equal layouts send equal rows to equal partitions. */
  override def equals(other: Any): Boolean = other match {
    case that: Stored => table == that.table && keys == that.keys
    case _ => false
  }

  override def hashCode: Int = keys.hashCode
}

private[shuffle] object Stored {

  /**
   * The plan with one partition for each value, and its layout. `None` if the source does not
   * report it, or if other rows cannot be brought to it.
   */
  def of(plan: SparkPlan): Option[(SparkPlan, Stored)] =
    grouped(plan).filter(_ => isOn).flatMap { grouped =>
      KeyedTables.in(grouped.outputPartitioning).collectFirst(Function.unlift(fit)).map((
        grouped,
        _))
    }

  /** The plan with one partition for each value, if its source reports the values. */
  private def grouped(plan: SparkPlan): Option[SparkPlan] =
    KeyedTables.in(plan.outputPartitioning) match {
      case Seq() => None
      case several if several.exists(_.isGrouped) => Some(plan)
      case _ => KeyedTables.grouped(plan)
    }

  /** The value of each of the source's partitions; none if the source does not report them. */
  def valuesOf(partitioning: Partitioning): Seq[InternalRowComparableWrapper] =
    KeyedTables.in(partitioning).headOption
      .fold(Seq.empty[InternalRowComparableWrapper])(_.values)

  /** The columns and functions that have these values. */
  def typesOf(partitioning: Partitioning): Seq[Expression] =
    KeyedTables.in(partitioning).headOption.fold(Seq.empty[Expression])(_.expressions)

  /**
   * With the first setting Spark treats a table by (a, b) as one by a. With the second it reads a
   * partition in several parts. With the third it accepts different functions.
   */
  private def isOn: Boolean = {
    val conf = SQLConf.get
    !conf.getConf(BucketingSettings.keysSubset) &&
    !conf.getConf(SQLConf.V2_BUCKETING_PARTIALLY_CLUSTERED_DISTRIBUTION_ENABLED) &&
    !conf.getConf(SQLConf.V2_BUCKETING_ALLOW_COMPATIBLE_TRANSFORMS)
  }

  private def fit(table: KeyedTable): Option[Stored] = {
    val keys = table.expressions.flatMap(_.collect { case column: Attribute => column }).distinct
    if (keys.nonEmpty && keys.forall(isExactColumn) && !table.mayHaveOtherValues &&
      canShuffle(table, keys)) Some(new Stored(table, keys))
    else None
  }

  /** Spark's own conditions, as if its setting were on. */
  private def canShuffle(table: KeyedTable, keys: Seq[Expression]): Boolean = {
    val conf = SQLConf.get.clone()
    conf.setConf(SQLConf.V2_BUCKETING_SHUFFLE_ENABLED, true)
    SQLConf.withExistingConf(conf)(table.canShuffle(keys))
  }

  /** Whether other rows can be brought there. */
  private def isComputed(value: Expression): Boolean = value match {
    case transform: TransformExpression => KeyedTables.isComputed(transform)
    case _ => true
  }

  private def isExactColumn(key: Expression): Boolean = key match {
    case column: Attribute => ExactColumn.isExact(column.dataType)
    case _ => false
  }
}
