package io.firesteel.shuffle

import java.time.Duration

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.github.benmanes.caffeine.cache.{Cache, Caffeine}
import org.apache.spark.SparkThrowable
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
  private val found: Cache[Wanted, Either[String, SampledRows]] =
    Caffeine.newBuilder().maximumSize(100).expireAfterWrite(Duration.ofMinutes(10)).build()

  /** What the sample shows of the rows that a shuffle gets, or why there is none. */
  def of(
      shuffled: SparkPlan,
      by: Seq[Expression],
      keys: Seq[Expression]): Either[String, KeyFacts] =
    for {
      _ <- allowed
      source <- sourceOf(shuffled)
      _ <- worthReading(source, SQLConf.get.getConf(ShuffleConf.SAMPLE_MIN_SIZE))
      all <- computed(shuffled, by)
      some <- computed(shuffled, keys)
      sampled <- found.get(wanted(source, all, some), _ => read(source, all, some))
      pairs = sampled.hashes.distinct
      _ <- enough(pairs.size)
    } yield {
      val ofOne = pairs.groupBy(_._2).values.map(_.size)
      KeyFacts(
        ofOne.size,
        Some(ofOne.max.toDouble / pairs.size),
        s"a sample with ${pairs.size} different rows")
    }

  /** How many keys the rows have of which a partial aggregate makes groups, or why nothing is known. */
  def rate(partial: BaseAggregateExec): Either[String, SampledRate] =
    for {
      _ <- allowed
      source <- sourceOf(partial)
      keys <- computed(partial, partial.groupingExpressions.map(_.toAttribute))
      sampled <- taken(source, keys).getOrElse(takenForRate(source, keys))
      _ <- enough(sampled.hashes.size)
      leaf <- leafOf(source)
    } yield SampledRate.of(
      sampled.hashes.map(_._1),
      rowsOf(leaf) / math.max(sampled.partitions, 1))

  /** One of all of these keys, and of whichever of them. */
  private def taken(
      source: LogicalPlan,
      keys: Seq[Expression]): Option[Either[String, SampledRows]] = {
    val like = wanted(source, keys, keys)
    found.asMap().asScala.collectFirst {
      case (other, rows) if other.copy(keys = keys) == like => rows
    }
  }

  private def takenForRate(
      source: LogicalPlan,
      keys: Seq[Expression]): Either[String, SampledRows] = {
    val least = SQLConf.get.getConf(ShuffleConf.LOCAL_AGGREGATE_SAMPLE_MIN_SIZE)
    worthReading(source, BigInt(least) * session.sparkContext.defaultParallelism).flatMap { _ =>
      found.get(wanted(source, keys, keys), _ => read(source, keys, keys))
    }
  }

  private def allowed: Either[String, Unit] =
    if (SQLConf.get.getConf(ShuffleConf.SAMPLE)) Right(())
    else Left(s"${ShuffleConf.SAMPLE.key} is false")

  private def worthReading(source: LogicalPlan, least: BigInt): Either[String, Unit] =
    for {
      leaf <- leafOf(source)
      size = leaf.stats.sizeInBytes
      _ <- if (size >= least) Right(())
      else Left(s"the source of $size bytes is too small for a sample to pay")
    } yield ()

  private def enough(rows: Int): Either[String, Unit] =
    if (rows >= fewest) Right(()) else Left(s"a sample found $rows different rows")

  private def wanted(
      source: LogicalPlan,
      all: Seq[Expression],
      keys: Seq[Expression]): Wanted =
    Wanted(source.canonicalized, all, keys, SQLConf.get.getConf(ShuffleConf.SAMPLE_ROWS))

  /** An error in some row is the query's to meet, or not to. */
  private def read(
      source: LogicalPlan,
      all: Seq[Expression],
      keys: Seq[Expression]): Either[String, SampledRows] =
    try {
      val rows = math.max(SQLConf.get.getConf(ShuffleConf.SAMPLE_ROWS) / places, 1)
      val limited = source.transformUp { case leaf: LeafNode => LocalLimit(Literal(rows), leaf) }
      val hashes = Seq(Alias(new XxHash64(all), "all")(), Alias(new XxHash64(keys), "keys")())
      val rdd = executionOf(session, Project(hashes, limited)).toRdd
      val partitions = rdd.getNumPartitions
      val read = (0 until places).map(_ * partitions / places).distinct.filter(_ < partitions)
      val take =
        (row: Iterator[InternalRow]) => row.map(r => (r.getLong(0), r.getLong(1))).toArray
      Right(SampledRows(
        session.sparkContext.runJob(rdd, take, read).toSeq.flatten,
        partitions))
    } catch {
      case e: SparkThrowable if e.getCondition == "SPARK_JOB_CANCELLED" => throw e
      case NonFatal(e) => Left(s"the sample ended with ${e.getClass.getName}")
    }
}

private[shuffle] object KeySample {

  /** Partitions of the source from which rows are taken. */
  private val places = 4

  /** Different rows that a sample must have to say anything. */
  val fewest = 1000

  /** Rows of a source, by Spark's estimate; of compressed files there are more. */
  private def rowsOf(leaf: LogicalPlan): Double =
    leaf.stats.rowCount.fold(
      leaf.stats.sizeInBytes.toDouble / math.max(leaf.output.map(_.dataType.defaultSize).sum, 1))(
      _.toDouble)

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
    // From below: a key of floating-point numbers has the very name of the column that it normalises.
    val all = keys.map(_.transformUp {
      case attribute =>
        meaning.collectFirst { case (name, child) if name.semanticEquals(attribute) => child }
          .getOrElse(attribute)
    })
    if (all.forall(isCheap)) Right(all)
    else Left("a key is not deterministic, or not computed by Spark alone")
  }
}

/** A sample of a source, in terms of which the keys are. */
private[shuffle] final case class Wanted(
    source: LogicalPlan,
    all: Seq[Expression],
    keys: Seq[Expression],
    rows: Int)

/**
 * Rows that were read for a sample.
 *
 * @param hashes of each row those of all of its keys and of those in question
 * @param partitions of the source
 */
private[shuffle] final case class SampledRows(hashes: Seq[(Long, Long)], partitions: Int)
