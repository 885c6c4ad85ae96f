package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, AttributeMap, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, ColumnStat, Expand, LeafNode, LogicalPlan, Project, Statistics, Union, Window}
import org.apache.spark.sql.internal.SQLConf

/** Facts from column statistics (`ANALYZE TABLE … COMPUTE STATISTICS FOR COLUMNS`). */
private[shuffle] object KeyStatistics {

  private val source = "table statistics"

  /**
   * For several keys, the one with the most values counts: the number of combinations is unknown,
   * but at least as large.
   *
   * @param plan whose rows are to be spread
   */
  def of(plan: LogicalPlan, keys: Seq[Expression]): Option[KeyFacts] =
    ofColumnsOf(plan, underCasts(keys))

  private def underCasts(keys: Seq[Expression]): Seq[Expression] =
    keys.map(key => ExactColumn.underCasts(key).getOrElse(key))

  /**
   * Groups by the keys for each row of a plan, at most. Spark's estimate assumes independent keys:
   * there may be fewer groups.
   */
  def groupRate(plan: LogicalPlan, keys: Seq[Expression]): Option[Double] = withColumns {
    val by = underCasts(keys)
    val columns = by.collect { case key: Attribute => key }
    for {
      rows <- estimate(copyOf(plan)).rowCount
      groups <- estimate(Aggregate(by, columns, copyOf(inputOf(plan)))).rowCount
      if rows > 0
    } yield (BigDecimal(groups) / BigDecimal(rows)).toDouble
  }

  /**
   * The share of the most frequent value. It is also known where Spark carries no statistics, such
   * as above windows.
   */
  def mostFrequent(plan: LogicalPlan, keys: Seq[Expression]): Option[KeyFacts] = withColumns {
    val fresh = copyOf(plan)
    val shares = keys.collect { case key: Attribute => shareInHistogram(fresh, key) }.flatten
    shares.minOption.map(KeyFacts(1, _, isShareKnown = true, groupRate = None, None, source))
  }

  /**
   * The size of a plan's output by column statistics; `None` if they are not known all the way up.
   */
  def bytes(plan: LogicalPlan): Option[BigInt] = withColumns {
    val stats = estimate(copyOf(plan))
    stats.rowCount.map(_ => stats.sizeInBytes)
  }

  private def inputOf(plan: LogicalPlan): LogicalPlan = plan match {
    case aggregate: Aggregate => aggregate.child // whose keys are among its columns
    case other => other
  }

  /** The plan's own nodes may have cached statistics without columns. */
  private def copyOf(plan: LogicalPlan): LogicalPlan = plan.clone()

  private def estimate(plan: LogicalPlan): Statistics = plan.transformUp {
    case leaf: LeafNode => withoutHistograms(leaf)
    // A window has the rows of its input. Spark carries no statistics through it.
    case window: Window => Estimated(window.output, window.child.stats)
  }.stats

  private def ofColumnsOf(plan: LogicalPlan, keys: Seq[Expression]): Option[KeyFacts] = {
    inputOf(plan) match {
      case sets: Expand => ofSets(sets, keys)
      case other => ofColumns(other, keys)
    }
  }

  /**
   * Grouping sets: in some copies of a row a key is a column of the input, in others it is null.
   */
  private def ofSets(sets: Expand, keys: Seq[Expression]): Option[KeyFacts] = {
    val copies = keys.map { key =>
      val place = sets.output.indexWhere(_.semanticEquals(key))
      if (place < 0) Nil else sets.projections.map(_(place))
    }
    val columns = copies.flatMap(_.collectFirst { case column: Attribute => column })
    ofColumns(sets.child, columns).map { facts =>
      // A combination is null in at most as many copies as each of its parts.
      val nulls =
        if (columns.size < keys.size) 0.0
        else copies.map(of => of.count(!_.isInstanceOf[Attribute]).toDouble / of.size).min
      facts.copy(
        largestShare = math.max(facts.largestShare, nulls),
        bytes = facts.bytes.map(_ * sets.projections.size))
    }
  }

  private def ofColumns(input: LogicalPlan, keys: Seq[Expression]): Option[KeyFacts] = withColumns {
    val fresh = copyOf(input)
    val stats = estimate(fresh)
    val known = for {
      key <- keys.collect { case key: Attribute => key }
      column <- stats.attributeStats.get(key)
    } yield key -> column
    val counts = known.flatMap(_._2.distinctCount)
    if (counts.isEmpty) None
    else {
      val nulls = known.map { case (_, column) => shareOfNulls(column, stats.rowCount) }
      val values = known.map { case (key, _) => shareInHistogram(fresh, key) }
      // A combination is at most as frequent as the rarest of its parts.
      val ofKnown = values.zip(nulls).collect { case (Some(share), padded) =>
        math.max(share, padded)
      }
      val ofNulls = if (known.size < keys.size) 0.0 else nulls.min
      Some(KeyFacts(
        counts.max,
        ofKnown.minOption.getOrElse(ofNulls),
        isShareKnown = ofKnown.nonEmpty,
        groupRate = None,
        bytes = stats.rowCount.map(_ => stats.sizeInBytes),
        source
      ))
    }
  }

  /**
   * Spark carries column statistics through filters and joins only with this setting, which is off
   * by default. Its estimates throw a `MatchError` for some types that `ANALYZE` supports, such as
   * a comparison with a TIMESTAMP_NTZ or a collated string.
   */
  private def withColumns[T](body: => Option[T]): Option[T] = {
    val conf = SQLConf.get.clone()
    conf.setConf(SQLConf.CBO_ENABLED, true)
    try SQLConf.withExistingConf(conf)(body)
    catch { case _: MatchError => None }
  }

  /**
   * With two histograms Spark takes tenths of a second to estimate a join, without them almost
   * nothing.
   */
  private def withoutHistograms(leaf: LeafNode): LeafNode = {
    val columns = leaf.stats.attributeStats.map { case (column, of) =>
      column -> of.copy(histogram = None)
    }
    Estimated(leaf.output, leaf.stats.copy(attributeStats = AttributeMap(columns.toSeq)))
  }

  private def shareOfNulls(column: ColumnStat, rows: Option[BigInt]): Double = {
    val share = for (nulls <- column.nullCount; all <- rows if all > 0)
      yield nulls.toDouble / all.toDouble
    share.getOrElse(0.0)
  }

  /**
   * All bins of a histogram have the same number of rows. A value that fills n bins has n shares.
   * `None` if the column has no histogram at its source.
   */
  private def shareInHistogram(plan: LogicalPlan, key: Attribute): Option[Double] = plan match {
    case leaf: LeafNode =>
      leaf.stats.attributeStats.get(key).flatMap(_.histogram).map { histogram =>
        val filled = histogram.bins.toSeq.filter(bin => bin.lo == bin.hi).groupBy(_.lo).values
        filled.map(_.size).maxOption.fold(0.0)(_.toDouble / histogram.bins.length)
      }
    case union: Union =>
      val place = union.output.indexWhere(_.semanticEquals(key))
      if (place < 0) None
      else {
        val shares =
          union.children.map(branch => shareInHistogram(branch, branch.output(place)))
        if (shares.forall(_.isDefined)) shares.flatten.maxOption else None
      }
    case _ =>
      val outputs = plan match {
        case project: Project => project.projectList
        case aggregate: Aggregate => aggregate.aggregateExpressions
        case _ => Nil
      }
      val below = outputs.collectFirst {
        case alias @ Alias(column: Attribute, _) if alias.exprId == key.exprId => column
      }.getOrElse(key)
      plan.children.find(_.outputSet.contains(below)).flatMap(shareInHistogram(_, below))
  }
}

/** A source that has only statistics. */
private[shuffle] final case class Estimated(output: Seq[Attribute], statistics: Statistics)
  extends LeafNode {
  override def computeStats(): Statistics = statistics
}
