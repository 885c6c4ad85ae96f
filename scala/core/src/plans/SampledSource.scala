package io.firesteel.core.plans

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{And, AttributeSet, Expression, Literal, PredicateHelper, UserDefinedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LeafNode, LocalLimit, LocalRelation, LogicalPlan, Project, Range}
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2ScanRelation, FileScan}
import org.apache.spark.sql.internal.SQLConf

/**
 * A source below filters and projections, whose first rows cost no more than reading them.
 *
 * @param plan source, filters and projections
 * @param partitions conditions on partition columns of files
 */
final private[firesteel] case class SampledSource(
    plan: LogicalPlan,
    leaf: LeafNode,
    partitions: Seq[Expression]) {

  /** The plan over the first rows of each partition that is read. */
  def limited(rowsOfPartition: Int): LogicalPlan = plan.transformUp { case `leaf` =>
    val read = partitions.reduceOption(And(_, _)).fold[LogicalPlan](leaf)(Filter(_, leaf))
    LocalLimit(Literal(rowsOfPartition), read)
  }

  /** Size of the files that are read, or Spark's estimate. */
  def size: BigInt = leaf match {
    case SampledSource.Files(files) if partitions.nonEmpty || isUnknown(leaf.stats.sizeInBytes) =>
      // A condition that fails on a partition must fail in the query, not here.
      Try(files.location.listFiles(partitions, Nil)).toOption
        .fold(BigInt(0))(_.flatMap(_.files.map(f => BigInt(f.getLen))).sum)
    case other if isUnknown(other.stats.sizeInBytes) => BigInt(0)
    case other => other.stats.sizeInBytes
  }

  /**
   * Spark's catalog has no size of a partitioned table before ANALYZE: it is then a huge default.
   */
  private def isUnknown(size: BigInt): Boolean = size >= SQLConf.get.defaultSizeInBytes

  /** Rows in so many bytes, by Spark's estimate; compressed files have more. */
  def rowsOf(bytes: BigInt): Double = leaf.stats.rowCount match {
    case Some(all) =>
      all.toDouble * (bytes.toDouble / math.max(leaf.stats.sizeInBytes.toDouble, 1.0))
    case None => bytes.toDouble / math.max(leaf.output.map(_.dataType.defaultSize).sum, 1)
  }
}

private[firesteel] object SampledSource extends PredicateHelper {

  /** The source of a plan, or the reason why it is not sampled. */
  def of(plan: LogicalPlan): Either[String, SampledSource] = leafOf(plan).map { leaf =>
    val columns = leaf match {
      case Files(files) =>
        val names = files.partitionSchema.fieldNames.toSet
        AttributeSet(leaf.output.filter(a => names.contains(a.name)))
      case _ => AttributeSet.empty
    }
    // The lowest first: a condition above may fail on rows that a lower one removes.
    val conditions = plan.collect { case filter: Filter => filter.condition }.reverse
      .flatMap(splitConjunctivePredicates)
      .filter(c => c.references.nonEmpty && c.references.subsetOf(columns))
    SampledSource(plan, leaf, conditions)
  }

  /** The files that a leaf reads. */
  private object Files {
    def unapply(leaf: LogicalPlan): Option[HadoopFsRelation] = leaf match {
      case relation: LogicalRelation =>
        Option(relation.relation).collect { case files: HadoopFsRelation => files }
      case _ => None
    }
  }

  /** Whether Spark alone computes it from a row: a subquery would run to its end. */
  def isCheap(e: Expression): Boolean =
    e.deterministic && !e.containsPattern(PLAN_EXPRESSION) &&
      !e.exists(_.isInstanceOf[UserDefinedExpression])

  private def leafOf(plan: LogicalPlan): Either[String, LeafNode] = plan match {
    case Project(list, child) if list.forall(isCheap) => leafOf(child)
    case Filter(condition, child) if isCheap(condition) => leafOf(child)
    case leaf: LeafNode if isCheap(leaf) => Right(leaf)
    case other => Left(s"the source of the rows is the operator ${other.nodeName}")
  }

  /**
   * Whether its first rows cost no more than reading them. Not so for an RDD, which may be any
   * computation; a database, which would compute its whole answer; and a stage that adaptive
   * execution has not run.
   */
  private def isCheap(leaf: LeafNode): Boolean = leaf match {
    case relation: LogicalRelation => relation.relation.isInstanceOf[HadoopFsRelation]
    case relation: DataSourceV2ScanRelation => relation.scan.isInstanceOf[FileScan]
    case cached: InMemoryRelation => cached.cacheBuilder.isCachedColumnBuffersLoaded
    case _: Range | _: LocalRelation => true
    case _ => false
  }
}
