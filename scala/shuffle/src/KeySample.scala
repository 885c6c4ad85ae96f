package io.firesteel.shuffle

import io.firesteel.core.plans.{SampledRows, SourceSample}
import com.github.benmanes.caffeine.cache.{Cache, Caffeine}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, LogicalPlan}
import org.apache.spark.sql.execution.SparkPlan
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.firesteel.ConfigEntry
import org.apache.spark.sql.internal.SQLConf

/**
 * Counts keys in a sample of the source that a plan reads. In files that are sorted by the keys the
 * sample has fewer keys than the source, which errs on the safe side.
 */
private[shuffle] final class KeySample(session: SparkSession) {
  import KeySample._

  private val samples = new SourceSample(session)

  // A repeated request, as of adaptive execution, gets the same sample object.
  private val counted: Cache[SampledRows, CountedPairs] =
    Caffeine.newBuilder().weakKeys().build[SampledRows, CountedPairs]()

  /** Facts about the rows that a shuffle gets, or why there is no sample. */
  def of(
      shuffled: SparkPlan,
      by: Seq[Expression],
      keys: Seq[Expression]): Either[String, KeyFacts] =
    for {
      _ <- allowed
      source <- sourceOf(shuffled)
      wanted = Seq(computed(shuffled, by), computed(shuffled, keys))
      sampled <- samples.of(source, wanted, rows, conf(ShuffleConf.SAMPLE_MIN_SIZE))
      // Above a partial aggregate one row is shuffled for each group; otherwise all rows are.
      facts <- counted
        .get(sampled, new CountedPairs(_))
        .of(groups = shuffled.isInstanceOf[BaseAggregateExec])
    } yield facts

  /** The share of different keys among the rows of a partial aggregate, or why it is unknown. */
  def rate(partial: BaseAggregateExec): Either[String, SampledRate] =
    for {
      _ <- allowed
      source <- sourceOf(partial)
      keys = computed(partial, partial.groupingExpressions.map(_.toAttribute))
      least = conf(ShuffleConf.LOCAL_AGGREGATE_SAMPLE_MIN_SIZE) * cores
      sampled <- samples
        .taken(source, keys, rows)
        .getOrElse(samples.of(source, Seq(keys), rows, least))
    } yield SampledRate.of(sampled.hashes.head, sampled.rowsOfPartition)

  private def cores: Int = session.sparkContext.defaultParallelism

  private def conf(size: ConfigEntry[Long]): BigInt = BigInt(SQLConf.get.getConf(size))

  private def allowed: Either[String, Unit] =
    if (SQLConf.get.getConf(ShuffleConf.SAMPLE)) Right(())
    else Left(s"${ShuffleConf.SAMPLE.key} is false")

  private def rows: Int = SQLConf.get.getConf(ShuffleConf.SAMPLE_ROWS)
}

/**
 * Facts of a sample about a shuffle's keys (the first hashes) and about other keys (the second).
 */
private final class CountedPairs(sampled: SampledRows) {

  private val pairs = sampled.hashes(0).zip(sampled.hashes(1))
  private val different = pairs.distinct
  private lazy val ofRows = counted(pairs)
  private lazy val ofGroups = counted(different)

  /** @param groups whether one row is shuffled for each different pair; otherwise all rows are */
  def of(groups: Boolean): Either[String, KeyFacts] =
    if (different.length < SourceSample.fewest)
      Left(s"a sample found ${different.length} different rows")
    else Right(if (groups) ofGroups else ofRows)

  private def counted(sent: Array[(Long, Long)]): KeyFacts = {
    val ofOne = sent.groupMapReduce(_._2)(_ => 1)(_ + _).values
    KeyFacts(
      ofOne.size,
      ofOne.max.toDouble / sent.length,
      isShareKnown = true,
      groupRate = Some(ofOne.size.toDouble / sent.length),
      bytes = None,
      s"a sample with ${different.length} different rows"
    )
  }
}

private[shuffle] object KeySample {

  /**
   * The plan below the partial aggregate, if the shuffle's input is one; otherwise the input
   * itself.
   */
  private def sourceOf(shuffled: SparkPlan): Either[String, LogicalPlan] =
    shuffled.logicalLink.map(Unstaged(_)) match {
      case Some(aggregate: Aggregate) => Right(aggregate.child)
      case Some(other) if !shuffled.isInstanceOf[BaseAggregateExec] => Right(other)
      case _ => Left("the keys are not columns of a source")
    }

  /** The keys of the shuffle's input, in terms of the plan below its partial aggregate. */
  private def computed(shuffled: SparkPlan, keys: Seq[Expression]): Seq[Expression] = {
    val grouping: Seq[NamedExpression] = shuffled match {
      case aggregate: BaseAggregateExec => aggregate.groupingExpressions
      case _ => Nil
    }
    val meaning = grouping.collect { case alias: Alias => alias.toAttribute -> alias.child }
    // Bottom-up: the key that normalises a floating-point column has that column's own name.
    keys.map(_.transformUp {
      case attribute =>
        meaning.collectFirst { case (name, child) if name.semanticEquals(attribute) => child }
          .getOrElse(attribute)
    })
  }
}
