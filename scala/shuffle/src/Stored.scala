package io.firesteel.shuffle

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, TransformExpression}
import org.apache.spark.sql.catalyst.plans.physical.{ClusteredDistribution, KeyedPartitioning, KeyedShuffleSpec, Partitioning, PartitioningCollection}
import org.apache.spark.sql.catalyst.util.InternalRowComparableWrapper
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.datasources.v2.GroupPartitionsExec
import org.apache.spark.sql.internal.SQLConf

/**
 * As a table lies whose source reports it (`SupportsReportPartitioning`): a partition for each value of
 * columns, or of functions of them such as `bucket(16, id)`.
 *
 * What fits what is left to Spark's own comparison, and its partitioner takes rows there, as it does of
 * itself with `spark.sql.sources.v2.bucketing.shuffle.enabled`.
 *
 * @param table one partition for each value, none of which is unknown
 * @param keys the columns
 */
final private[shuffle] class Stored private (
    private val table: KeyedPartitioning,
    val keys: Seq[Attribute])
  extends Layout {

  private val spec = Stored.specOf(table, keys)

  override def partitions: Int = table.numPartitions

  /** Spark compares the very values of rows; of columns whose equal values differ that would not do. */
  override def by(keys: Seq[Expression]): Option[Partitioning] =
    if (keys.forall(Stored.isExactColumn) && table.expressions.forall(Stored.isComputed))
      Some(spec.createPartitioning(keys))
    else None

  override def of(plan: SparkPlan, keys: Seq[Expression]): Option[SparkPlan] =
    if (!keys.forall(Stored.isExactColumn)) None
    else Stored.grouped(plan).filter { other =>
      Stored.all(other.outputPartitioning).exists { table =>
        table.isGrouped && Stored.specOf(table, keys).isCompatibleWith(spec)
      }
    }

  private val (functions, columns) =
    table.expressions.partition(_.isInstanceOf[TransformExpression])

  override def isByValue: Boolean = functions.isEmpty

  /** Buckets are as even as hashes; days, or buckets of a value each, are as the rows are. */
  override def uncounted: Option[String] = {
    val areBuckets = columns.isEmpty && functions.forall {
      case transform: TransformExpression => transform.numBucketsOpt.isDefined
      case _ => false
    }
    if (isByValue || areBuckets) None else Some(table.expressions.map(_.sql).mkString(", "))
  }

  def values: Seq[InternalRowComparableWrapper] = table.partitionKeys

  /** Equal layouts spread equal rows alike. */
  override def equals(other: Any): Boolean = other match {
    case that: Stored => table == that.table && keys == that.keys
    case _ => false
  }

  override def hashCode: Int = keys.hashCode
}

private[shuffle] object Stored {

  /**
   * The plan with one partition for each value, and how its rows lie; `None` if their source does not
   * say, or not so that others can be brought there.
   */
  def of(plan: SparkPlan): Option[(SparkPlan, Stored)] =
    grouped(plan).filter(_ => isOn).flatMap { grouped =>
      all(grouped.outputPartitioning).collectFirst(Function.unlift(fit)).map((grouped, _))
    }

  /** The plan with one partition for each value, where a source says of what values. */
  private def grouped(plan: SparkPlan): Option[SparkPlan] =
    all(plan.outputPartitioning) match {
      case Seq() => None
      case several if several.exists(_.isGrouped) => Some(plan)
      case _ => Some(GroupPartitionsExec(plan, None, None, None, false, None))
    }

  /** Of each partition as the source has it the value; none if the source does not say. */
  def valuesOf(partitioning: Partitioning): Seq[InternalRowComparableWrapper] =
    all(partitioning).headOption.fold(Seq.empty[InternalRowComparableWrapper])(_.partitionKeys)

  /** The columns and functions whose values these are. */
  def typesOf(partitioning: Partitioning): Seq[Expression] =
    all(partitioning).headOption.fold(Seq.empty[Expression])(_.expressions)

  /**
   * With the first of these Spark takes a table by (a, b) for one by a, with the second it reads a
   * partition in several parts, and with the third it compares functions that differ.
   */
  private def isOn: Boolean = {
    val conf = SQLConf.get
    !conf.getConf(SQLConf.V2_BUCKETING_ALLOW_KEYS_SUBSET_OF_PARTITION_KEYS) &&
    !conf.getConf(SQLConf.V2_BUCKETING_PARTIALLY_CLUSTERED_DISTRIBUTION_ENABLED) &&
    !conf.getConf(SQLConf.V2_BUCKETING_ALLOW_COMPATIBLE_TRANSFORMS)
  }

  private def fit(table: KeyedPartitioning): Option[Stored] = {
    val keys = table.expressions.flatMap(_.collect { case column: Attribute => column }).distinct
    if (keys.nonEmpty && keys.forall(isExactColumn) && !table.mayContainUnknownPartitionKeys &&
      canShuffle(specOf(table, keys))) Some(new Stored(table, keys))
    else None
  }

  /** Spark's own conditions, as if its setting were on. */
  private def canShuffle(spec: KeyedShuffleSpec): Boolean = {
    val conf = SQLConf.get.clone()
    conf.setConf(SQLConf.V2_BUCKETING_SHUFFLE_ENABLED, true)
    SQLConf.withExistingConf(conf)(spec.canCreatePartitioning)
  }

  private def specOf(table: KeyedPartitioning, keys: Seq[Expression]): KeyedShuffleSpec =
    KeyedShuffleSpec(table, ClusteredDistribution(keys))

  private def all(partitioning: Partitioning): Seq[KeyedPartitioning] =
    PartitioningCollection.flatten(partitioning).collect { case keyed: KeyedPartitioning => keyed }

  /** Whether rows of others can be brought there: a source may tell a function by its name alone. */
  private def isComputed(value: Expression): Boolean = value match {
    case transform: TransformExpression =>
      try transform.resolvedFunction.isDefined
      catch { case NonFatal(_) => false } // Spark's error for one without an implementation
    case _ => true
  }

  private def isExactColumn(key: Expression): Boolean = key match {
    case column: Attribute => ExactColumn.isExact(column.dataType)
    case _ => false
  }
}
