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
 * A source behind filters and projections, whose first rows cost no more than their reading.
 *
 * @param plan the whole of it
 * @param partitions conditions on columns that whole files have in common
 */
final private[firesteel] case class SampledSource(
    plan: LogicalPlan,
    leaf: LeafNode,
    partitions: Seq[Expression]) {

  /** The plan over the first rows of each of the partitions that are read at all. */
  def limited(rowsOfPartition: Int): LogicalPlan = plan.transformUp { case `leaf` =>
    val read = partitions.reduceOption(And(_, _)).fold[LogicalPlan](leaf)(Filter(_, leaf))
    LocalLimit(Literal(rowsOfPartition), read)
  }

  /** Bytes of the files that are read, or Spark's estimate. */
  def size: BigInt = leaf match {
    case LogicalRelation(files: HadoopFsRelation, _, _, _, _)
        if partitions.nonEmpty || isUnknown(leaf.stats.sizeInBytes) =>
      // A condition that fails on some partition is the query's to meet.
      Try(files.location.listFiles(partitions, Nil)).toOption
        .fold(BigInt(0))(_.flatMap(_.files.map(f => BigInt(f.getLen))).sum)
    case other if isUnknown(other.stats.sizeInBytes) => BigInt(0)
    case other => other.stats.sizeInBytes
  }

  /** Of a table in partitions Spark's catalog knows no size unless it is analysed: then it is huge. */
  private def isUnknown(size: BigInt): Boolean = size >= SQLConf.get.defaultSizeInBytes

  /** Rows of so many bytes, by Spark's estimate; of compressed files there are more. */
  def rowsOf(bytes: BigInt): Double = leaf.stats.rowCount match {
    case Some(all) =>
      all.toDouble * (bytes.toDouble / math.max(leaf.stats.sizeInBytes.toDouble, 1.0))
    case None => bytes.toDouble / math.max(leaf.output.map(_.dataType.defaultSize).sum, 1)
  }
}

private[firesteel] object SampledSource extends PredicateHelper {

  /** The source of a plan, or why no sample is taken of it. */
  def of(plan: LogicalPlan): Either[String, SampledSource] = leafOf(plan).map { leaf =>
    val columns = leaf match {
      case LogicalRelation(files: HadoopFsRelation, output, _, _, _) =>
        val names = files.partitionSchema.fieldNames.toSet
        AttributeSet(output.filter(a => names.contains(a.name)))
      case _ => AttributeSet.empty
    }
    // The lowest first: those above may fail on what it leaves out.
    val conditions = plan.collect { case filter: Filter => filter.condition }.reverse
      .flatMap(splitConjunctivePredicates)
      .filter(c => c.references.nonEmpty && c.references.subsetOf(columns))
    SampledSource(plan, leaf, conditions)
  }

  /** Whether it is computed from a row by Spark alone: subqueries would be run to their end. */
  def isCheap(e: Expression): Boolean =
    e.deterministic && !e.containsPattern(PLAN_EXPRESSION) &&
      !e.exists(_.isInstanceOf[UserDefinedExpression])

  private def leafOf(plan: LogicalPlan): Either[String, LeafNode] = plan match {
    case Project(list, child) if list.forall(isCheap) => leafOf(child)
    case Filter(condition, child) if isCheap(condition) => leafOf(child)
    case leaf: LeafNode if isCheap(leaf) => Right(leaf)
    case other => Left(s"it comes out of a ${other.nodeName}")
  }

  /**
   * Whether its first rows cost no more than their reading. Not so an RDD, which may be any computation;
   * a database, which would answer in full; and what adaptive execution has yet to run.
   */
  private def isCheap(leaf: LeafNode): Boolean = leaf match {
    case relation: LogicalRelation => relation.relation.isInstanceOf[HadoopFsRelation]
    case relation: DataSourceV2ScanRelation => relation.scan.isInstanceOf[FileScan]
    case cached: InMemoryRelation => cached.cacheBuilder.isCachedColumnBuffersLoaded
    case _: Range | _: LocalRelation => true
    case _ => false
  }
}
