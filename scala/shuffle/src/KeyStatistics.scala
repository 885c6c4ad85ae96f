package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeMap, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, ColumnStat, Expand, LeafNode, LogicalPlan, Statistics}
import org.apache.spark.sql.internal.SQLConf

/** What a user's statistics say (`ANALYZE TABLE … COMPUTE STATISTICS FOR COLUMNS`). */
private[shuffle] object KeyStatistics {

  /**
   * Of several keys the one with the most values counts, since how many combinations there are nobody
   * has written down: there are at least as many.
   *
   * @param plan whose rows are to be spread
   */
  def of(plan: LogicalPlan, keys: Seq[Expression]): Option[KeyFacts] =
    ofColumnsOf(plan, keys.map(key => ExactColumn.underCasts(key).getOrElse(key)))

  private def ofColumnsOf(plan: LogicalPlan, keys: Seq[Expression]): Option[KeyFacts] = {
    val input = plan match {
      case aggregate: Aggregate => aggregate.child // whose keys are among its columns
      case other => other
    }
    input match {
      case sets: Expand => ofSets(sets, keys)
      case other => ofColumns(other, keys)
    }
  }

  /** Grouping sets: a key is a column of the input in some copies of a row, and null in the others. */
  private def ofSets(sets: Expand, keys: Seq[Expression]): Option[KeyFacts] = {
    val copies = keys.map { key =>
      val place = sets.output.indexWhere(_.semanticEquals(key))
      if (place < 0) Nil else sets.projections.map(_(place))
    }
    val columns = copies.flatMap(_.collectFirst { case column: Attribute => column })
    ofColumns(sets.child, columns).map { facts =>
      // No combination is null in more copies than any of its parts is.
      val nulls =
        if (columns.size < keys.size) 0.0
        else copies.map(of => of.count(!_.isInstanceOf[Attribute]).toDouble / of.size).min
      facts.copy(largestShare = (facts.largestShare.toSeq :+ nulls).maxOption.filter(_ > 0))
    }
  }

  private def ofColumns(input: LogicalPlan, keys: Seq[Expression]): Option[KeyFacts] = withColumns {
    val stats = input.clone().transformUp { case leaf: LeafNode => withoutHistograms(leaf) }.stats
    val known = for {
      key <- keys.collect { case key: Attribute => key }
      column <- stats.attributeStats.get(key)
    } yield key -> column
    val counts = known.flatMap(_._2.distinctCount)
    if (counts.isEmpty) None
    else {
      // No combination is more frequent than the rarest of its parts.
      val shares = known.map { case (key, column) =>
        math.max(shareOfNulls(column, stats.rowCount), shareInHistogram(input, key))
      }
      val share = if (known.size < keys.size) None else shares.minOption.filter(_ > 0)
      Some(KeyFacts(counts.max, share, "table statistics"))
    }
  }

  /** Spark carries statistics of columns through filters and joins only with this setting. */
  private def withColumns[T](body: => T): T = {
    val conf = SQLConf.get.clone()
    conf.setConf(SQLConf.CBO_ENABLED, true)
    SQLConf.withExistingConf(conf)(body)
  }

  /** Of two histograms Spark takes some tenths of a second to estimate a join, without them none. */
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

  /** Bins have equal numbers of rows: a value that fills several of them has that many shares. */
  private def shareInHistogram(plan: LogicalPlan, key: Attribute): Double = {
    val shares = for {
      leaf <- plan.collectLeaves()
      column <- leaf.stats.attributeStats.get(key)
      histogram <- column.histogram
      filled = histogram.bins.toSeq.filter(bin => bin.lo == bin.hi).groupBy(_.lo).values
      most <- filled.map(_.size).maxOption
    } yield most.toDouble / histogram.bins.length
    shares.maxOption.getOrElse(0.0)
  }
}

/** A source of which only its statistics matter. */
private[shuffle] final case class Estimated(output: Seq[Attribute], statistics: Statistics)
  extends LeafNode {
  override def computeStats(): Statistics = statistics
}
