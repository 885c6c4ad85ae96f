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
 * Reads the first rows of a few partitions of the source of a plan, by a small job while the query is
 * planned, and keeps what it has read: a plan is planned again whenever adaptive execution knows more.
 *
 * Only a source behind filters and projections is sampled, and no more of it is read than the sample,
 * whatever the filters leave of it. To be asked when the last logical rule has run: partitions are
 * pruned then.
 */
private[firesteel] final class SourceSample(session: SparkSession) {
  import SourceSample._

  private val found: Cache[Wanted, Either[String, SampledRows]] = remembered()

  // Of a table in partitions it takes a listing of its files, and of the catalog's partitions.
  private val sizes: Cache[LogicalPlan, BigInt] = remembered()

  /**
   * Rows of a source, or why there are none.
   *
   * @param keys of which there is to be a hash each
   * @param rows in all, before the filters
   * @param least bytes of a source that is worth a sample
   */
  def of(
      source: LogicalPlan,
      keys: Seq[Seq[Expression]],
      rows: Int,
      least: BigInt): Either[String, SampledRows] =
    if (!keys.forall(_.forall(SampledSource.isCheap)))
      Left("a key is not deterministic, or not computed by Spark alone")
    // First: what has no source is not worth comparing with what was asked before.
    else SampledSource.of(source).flatMap { from =>
      val like = wanted(source, keys, rows)
      Option(found.getIfPresent(like)).getOrElse {
        val size = sizes.get(like.source, _ => from.size)
        if (size >= least) found.get(like, _ => read(from, size, keys, rows))
        else Left(s"the source of $size bytes is too small for a sample to pay")
      }
    }

  /** Rows that have been read for these keys, and whichever others behind them. */
  def taken(
      source: LogicalPlan,
      keys: Seq[Expression],
      rows: Int): Option[Either[String, SampledRows]] = {
    val like = wanted(source, Seq(keys), rows)
    found.asMap().asScala.collectFirst {
      case (other, sampled) if other.copy(keys = other.keys.take(1)) == like => sampled
    }
  }

  /** The same for a query that is asked again. */
  private def wanted(source: LogicalPlan, keys: Seq[Seq[Expression]], rows: Int): Wanted = Wanted(
    source.canonicalized,
    keys.map(_.map(key => QueryPlan.normalizeExpressions(key, source.output))),
    rows)

  /** An error in some row is the query's to meet, or not to. */
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
      if (taken.length < fewest) Left(s"a sample found ${taken.length} rows")
      else
        Right(SampledRows(
          columns.map(column => taken.map(_(column))),
          source.rowsOf(size) / partitions))
    } catch {
      case e: SparkThrowable if e.getCondition == "SPARK_JOB_CANCELLED" => throw e
      case NonFatal(e) => Left(s"the sample ended with ${e.getClass.getName}")
    }
}

private[firesteel] object SourceSample {

  /** Rows that a sample must have to say anything. */
  val fewest = 1000

  /** A plan is planned again within moments; a query may be asked again, of files that have changed. */
  private def remembered[K <: AnyRef, V <: AnyRef](): Cache[K, V] =
    Caffeine.newBuilder().maximumSize(50).expireAfterWrite(Duration.ofMinutes(10)).build[K, V]()

  /** Partitions of the source from which rows are taken. */
  private val places = 4

  private val toArray: Iterator[Array[Long]] => Array[Array[Long]] = _.toArray

  final private case class Wanted(source: LogicalPlan, keys: Seq[Seq[Expression]], rows: Int)
}

/**
 * Rows that were read for a sample.
 *
 * @param hashes for each of the keys that were asked for those of all rows
 * @param rowsOfPartition how many rows a partition of the source has, by Spark's estimate
 */
final private[firesteel] case class SampledRows(
    hashes: Array[Array[Long]],
    rowsOfPartition: Double)
