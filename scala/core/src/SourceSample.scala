package io.firesteel.core

import java.time.Duration

import com.github.benmanes.caffeine.cache.{Cache, Caffeine, LoadingCache}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, Literal, XxHash64}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LeafNode, LocalLimit, LocalRelation, LogicalPlan, Project, Range}
import org.apache.spark.sql.execution.columnar.InMemoryRelation
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2ScanRelation, FileScan}
import org.apache.spark.sql.firesteel.executionOf
import org.apache.spark.sql.internal.SQLConf

/**
 * A sample of the source that a plan reads: the first rows of a few partitions.
 *
 * Only a source behind filters and projections is sampled, and no more of it is read than the sample,
 * whatever the filters leave of it. Files that are sorted by the keys look poorer in keys than they are.
 */
final class SourceSample private (session: SparkSession) {
  import SourceSample._

  // A plan is planned again whenever adaptive execution knows more; the source is the same.
  private val found: Cache[(LogicalPlan, Seq[Seq[Expression]], Int), Seq[Seq[Long]]] =
    Caffeine.newBuilder().maximumSize(100).expireAfterWrite(Duration.ofMinutes(10)).build()

  /**
   * For each row of the sample the hash of its values in each of some lists of columns; or why there is
   * none.
   */
  def hashes(source: LogicalPlan, of: Seq[Seq[Expression]]): Either[String, Seq[Seq[Long]]] =
    for {
      _ <- if (SQLConf.get.getConf(CoreConf.SAMPLE)) Right(())
      else Left(s"${CoreConf.SAMPLE.key} is false")
      leaf <- leafOf(source)
      size = leaf.stats.sizeInBytes
      least = SQLConf.get.getConf(CoreConf.SAMPLE_MIN_SIZE)
      _ <- if (size >= least) Right(())
      else Left(s"the source of $size bytes is too small for a sample to pay")
      _ <- if (of.flatten.forall(_.deterministic)) Right(())
      else Left("a key is not deterministic")
      _ <- if (of.forall(new XxHash64(_).checkInputDataTypes().isSuccess)) Right(())
      else Left("a key has no hash")
      rows = math.max(SQLConf.get.getConf(CoreConf.SAMPLE_ROWS) / places, 1)
    } yield found.get((source.canonicalized, of, rows), _ => read(source, of, rows))

  private def read(source: LogicalPlan, of: Seq[Seq[Expression]], rows: Int): Seq[Seq[Long]] = {
    val limited = source.transformUp { case leaf: LeafNode => LocalLimit(Literal(rows), leaf) }
    val hashes = of.map(columns => Alias(new XxHash64(columns), "hash")())
    val rdd = executionOf(session, Project(hashes, limited)).toRdd
    val partitions = rdd.getNumPartitions
    val from = (0 until places).map(_ * partitions / places).distinct.filter(_ < partitions)
    val width = of.size
    val take =
      (rows: Iterator[InternalRow]) => rows.map(row => Array.tabulate(width)(row.getLong)).toArray
    session.sparkContext.runJob(rdd, take, from).toSeq.flatten.map(_.toSeq)
  }
}

object SourceSample {

  /** Partitions of the source from which rows are taken. */
  private val places = 4

  private val ofSessions: LoadingCache[SparkSession, SourceSample] =
    Caffeine.newBuilder().weakKeys().build(session => new SourceSample(session))

  def of(session: SparkSession): SourceSample = ofSessions.get(session)

  private def leafOf(source: LogicalPlan): Either[String, LogicalPlan] = source match {
    case Project(list, child) if list.forall(_.deterministic) => leafOf(child)
    case Filter(condition, child) if condition.deterministic => leafOf(child)
    case leaf: LeafNode if isCheap(leaf) => Right(leaf)
    case other => Left(s"it comes out of a ${other.nodeName}")
  }

  /**
   * Whether its first rows cost no more than their reading. Not so an RDD, which may be any computation;
   * a database, which would answer in full; and what adaptive execution has yet to run.
   */
  private def isCheap(leaf: LeafNode): Boolean = leaf match {
    case relation: LogicalRelation =>
      !relation.isStreaming && relation.relation.isInstanceOf[HadoopFsRelation]
    case relation: DataSourceV2ScanRelation => relation.scan.isInstanceOf[FileScan]
    case cached: InMemoryRelation => cached.cacheBuilder.isCachedColumnBuffersLoaded
    case _: Range => true
    case local: LocalRelation => !local.isStreaming
    case _ => false
  }
}
