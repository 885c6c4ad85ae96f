package io.firesteel.core.plans

import java.time.Duration

import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal

import com.github.benmanes.caffeine.cache.{Cache, Caffeine}
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, XxHash64}
import org.apache.spark.sql.catalyst.plans.QueryPlan
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}
import org.apache.spark.sql.firesteel.executionOf

/**
 * Reads the first rows of a few partitions of a plan's source, in a small job while the query is
 * planned, and caches them: adaptive execution plans a query several times.
 *
 * Only a source below filters and projections is sampled. It reads no more than the sample, even if
 * the filters remove most of it. Call it after the last logical rule: partitions are pruned then.
 */
private[firesteel] final class SourceSample(session: SparkSession) {
  import SourceSample._

  private val found: Cache[Wanted, Either[String, SampledRows]] = remembered()

  // For a partitioned table the size needs a listing of its files and the catalog's partitions.
  private val sizes: Cache[LogicalPlan, BigInt] = remembered()

  /**
   * Rows of a source, or the reason why there are none.
   *
   * @param keys groups of columns; each row has a hash per group
   * @param rows total number, before the filters
   * @param least smallest size of a source in bytes that is worth a sample
   */
  def of(
      source: LogicalPlan,
      keys: Seq[Seq[Expression]],
      rows: Int,
      least: BigInt): Either[String, SampledRows] =
    if (!keys.forall(_.forall(SampledSource.isCheap)))
      Left("a key is not deterministic, or contains a subquery or user code")
    // First, because comparing plans is expensive and needs a source.
    else SampledSource.of(source).flatMap { from =>
      val like = wanted(source, keys, rows)
      Option(found.getIfPresent(like)).getOrElse {
        val size = sizes.get(like.source, _ => from.size)
        if (size >= least) found.get(like, _ => read(from, size, keys, rows))
        else Left(s"the source has $size bytes, too few to be worth a sample")
      }
    }

  /** Rows that were read for these keys, possibly together with other keys. */
  def taken(
      source: LogicalPlan,
      keys: Seq[Expression],
      rows: Int): Option[Either[String, SampledRows]] = {
    val like = wanted(source, Seq(keys), rows)
    found.asMap().asScala.collectFirst {
      case (other, sampled) if other.copy(keys = other.keys.take(1)) == like => sampled
    }
  }

  /** The cache key of a query. */
  private def wanted(source: LogicalPlan, keys: Seq[Seq[Expression]], rows: Int): Wanted = Wanted(
    source.canonicalized,
    keys.map(_.map(key => QueryPlan.normalizeExpressions(key, source.output))),
    rows)

  /** An error in a row must be raised by the query, not by the sample. */
  private def read(
      source: SampledSource,
      size: BigInt,
      keys: Seq[Seq[Expression]],
      rows: Int): Either[String, SampledRows] =
    try {
      val limited = source.limited(math.max(rows / places, 1))
      val hashes = keys.zipWithIndex.map { case (key, i) => Alias(new XxHash64(key), s"key$i")() }
      val rdd = executionOf(session, Project(hashes, limited)).toRdd
      val partitions = rdd.getNumPartitions
      val some = (0 until places).map(_ * partitions / places).distinct.filter(_ < partitions)
      val columns = keys.indices.toArray
      val taken = session.sparkContext
        .runJob(rdd.mapPartitions(_.map(row => columns.map(row.getLong))), toArray, some)
        .flatten
      if (taken.length < fewest) Left(s"the sample has ${taken.length} rows, too few")
      else
        Right(SampledRows(
          columns.map(column => taken.map(_(column))),
          source.rowsOf(size) / partitions))
    } catch {
      case e: SparkThrowable if e.getCondition == "SPARK_JOB_CANCELLED" => throw e
      case NonFatal(e) => Left(s"the sample failed with ${e.getClass.getName}")
    }
}

private[firesteel] object SourceSample {

  /** Fewest rows of a useful sample. */
  val fewest = 1000

  /** Replanning follows within moments; a later query may read files that have changed. */
  private def remembered[K <: AnyRef, V <: AnyRef](): Cache[K, V] =
    Caffeine.newBuilder().maximumSize(50).expireAfterWrite(Duration.ofMinutes(10)).build[K, V]()

  /** Number of partitions that are sampled. */
  private val places = 4

  private val toArray: Iterator[Array[Long]] => Array[Array[Long]] = _.toArray

  final private case class Wanted(source: LogicalPlan, keys: Seq[Seq[Expression]], rows: Int)
}

/**
 * The rows of a sample.
 *
 * @param hashes for each group of keys, the hashes of all rows
 * @param rowsOfPartition rows in a partition of the source, by Spark's estimate
 */
final private[firesteel] case class SampledRows(
    hashes: Array[Array[Long]],
    rowsOfPartition: Double)
