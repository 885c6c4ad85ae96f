package io.firesteel.shuffle

import java.time.Duration

import com.github.benmanes.caffeine.cache.{Cache, Caffeine}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, Literal, NamedExpression, UserDefinedExpression, XxHash64}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, LeafNode, LocalLimit, LocalRelation, LogicalPlan, Project, Range}
import org.apache.spark.sql.catalyst.trees.TreePattern.PLAN_EXPRESSION
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2ScanRelation, FileScan}
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.internal.SQLConf

/**
 * Counts keys in a sample of the source that a plan reads: the first rows of a few partitions.
 *
 * Only a source behind filters and projections is sampled, and no more of it is read than the sample,
 * whatever the filters leave of it. Files that are sorted by the keys look poorer in keys than they are,
 * which errs on the safe side.
 */
private[shuffle] final class KeySample(session: SparkSession) {
  import KeySample._

  // A plan is planned again whenever adaptive execution knows more; the source is the same.
  private val found: Cache[(LogicalPlan, Seq[Expression], Int), Either[String, KeyFacts]] =
    Caffeine.newBuilder().maximumSize(100).expireAfterWrite(Duration.ofMinutes(10)).build()

  /** What the sample shows, or why there is none. */
  def of(
      shuffled: SparkPlan,
      by: Seq[Expression],
      keys: Seq[Expression]): Either[String, KeyFacts] =
    for {
      _ <- if (SQLConf.get.getConf(ShuffleConf.SAMPLE)) Right(())
      else Left(s"${ShuffleConf.SAMPLE.key} is false")
      source <- sourceOf(shuffled)
      leaf <- leafOf(source)
      size = leaf.stats.sizeInBytes
      least = SQLConf.get.getConf(ShuffleConf.SAMPLE_MIN_SIZE)
      _ <- if (size >= least) Right(())
      else Left(s"the source of $size bytes is too small for a sample to pay")
      all <- computed(shuffled, by)
      some <- computed(shuffled, keys)
      rows = math.max(SQLConf.get.getConf(ShuffleConf.SAMPLE_ROWS) / places, 1)
      facts <- found.get(
        (source.canonicalized, some ++ all, rows),
        _ => counted(source, some, all, rows))
    } yield facts

  private def counted(
      source: LogicalPlan,
      keys: Seq[Expression],
      all: Seq[Expression],
      rows: Int): Either[String, KeyFacts] = {
    val limited = source.transformUp { case leaf: LeafNode => LocalLimit(Literal(rows), leaf) }
    val hashes = Seq(Alias(new XxHash64(keys), "keys")(), Alias(new XxHash64(all), "all")())
    val rdd = executionOf(session, Project(hashes, limited)).toRdd
    val partitions = rdd.getNumPartitions
    val read = (0 until places).map(_ * partitions / places).distinct.filter(_ < partitions)
    val take = (row: Iterator[InternalRow]) => row.map(r => (r.getLong(0), r.getLong(1))).toArray
    val pairs = session.sparkContext.runJob(rdd, take, read).toSeq.flatten.distinct
    if (pairs.size < fewest) Left(s"a sample found ${pairs.size} different rows")
    else {
      val ofOne = pairs.groupBy(_._1).values.map(_.size)
      Right(KeyFacts(
        ofOne.size,
        Some(ofOne.max.toDouble / pairs.size),
        s"a sample with ${pairs.size} different rows"))
    }
  }
}

private[shuffle] object KeySample {

  /** Partitions of the source from which rows are taken. */
  private val places = 4

  /** Different rows that a sample must have to say anything. */
  val fewest = 1000

  /** What is below the partial aggregate that a shuffle's input may be. */
  private def sourceOf(shuffled: SparkPlan): Either[String, LogicalPlan] =
    shuffled.logicalLink match {
      case Some(aggregate: Aggregate) => Right(aggregate.child)
      case Some(other) if !shuffled.isInstanceOf[BaseAggregateExec] => Right(other)
      case _ => Left("it is computed")
    }

  private def leafOf(source: LogicalPlan): Either[String, LogicalPlan] = source match {
    case Project(list, child) if list.forall(isCheap) => leafOf(child)
    case Filter(condition, child) if isCheap(condition) => leafOf(child)
    case leaf: LeafNode if isCheap(leaf) => Right(leaf)
    case other => Left(s"it comes out of a ${other.nodeName}")
  }

  /** Whether it is computed from a row by Spark alone: subqueries would be run to their end. */
  private def isCheap(e: Expression): Boolean =
    e.deterministic && !e.containsPattern(PLAN_EXPRESSION) &&
      !e.exists(_.isInstanceOf[UserDefinedExpression])

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

  /** Keys of the shuffle's input in terms of what is below its partial aggregate. */
  private def computed(
      shuffled: SparkPlan,
      keys: Seq[Expression]): Either[String, Seq[Expression]] = {
    val grouping: Seq[NamedExpression] = shuffled match {
      case aggregate: BaseAggregateExec => aggregate.groupingExpressions
      case _ => Nil
    }
    val meaning = grouping.collect { case alias: Alias => alias.toAttribute -> alias.child }
    val all = keys.map(_.transform {
      case attribute =>
        meaning.collectFirst { case (name, child) if name.semanticEquals(attribute) => child }
          .getOrElse(attribute)
    })
    if (all.forall(isCheap)) Right(all)
    else Left("a key is not deterministic, or not computed by Spark alone")
  }
}
