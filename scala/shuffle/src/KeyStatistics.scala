package io.firesteel.shuffle

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, ColumnStat, Expand, Histogram, LogicalPlan, Statistics}
import org.apache.spark.sql.internal.SQLConf

/** What a user's statistics say (`ANALYZE TABLE … COMPUTE STATISTICS FOR COLUMNS`). */
private[shuffle] object KeyStatistics {

  /**
   * Of several keys the one with the most values counts, since how many combinations there are nobody
   * has written down: there are at least as many.
   *
   * @param plan whose rows are to be spread
   */
  def of(plan: LogicalPlan, keys: Seq[Expression]): Option[KeyFacts] = {
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

  private def ofColumns(input: LogicalPlan, keys: Seq[Expression]): Option[KeyFacts] = {
    val stats = estimated(input)
    val known = keys.collect { case key: Attribute => stats.attributeStats.get(key) }.flatten
    val counts = known.flatMap(_.distinctCount)
    if (counts.isEmpty) None
    else {
      // No combination is more frequent than the rarest of its parts.
      val shares = if (known.size < keys.size) Nil else known.map(largestShare(_, stats.rowCount))
      Some(KeyFacts(counts.max, shares.minOption.filter(_ > 0), "table statistics"))
    }
  }

  /**
   * Spark carries statistics of columns through filters and joins only if `spark.sql.cbo.enabled` is
   * set; so they are computed on a copy of the plan, for which it is.
   */
  private def estimated(plan: LogicalPlan): Statistics = {
    val withColumns = SQLConf.get.clone()
    withColumns.setConf(SQLConf.CBO_ENABLED, true)
    SQLConf.withExistingConf(withColumns)(plan.clone().stats)
  }

  /** At least so large is the share of some value: that of nulls, or by the histogram. */
  private def largestShare(column: ColumnStat, rows: Option[BigInt]): Double = {
    val ofNulls = for (nulls <- column.nullCount; all <- rows if all > 0)
      yield nulls.toDouble / all.toDouble
    math.max(ofNulls.getOrElse(0.0), column.histogram.fold(0.0)(largestShare(_)))
  }

  /** Bins have equal numbers of rows: a value that fills several of them has that many shares. */
  private def largestShare(histogram: Histogram): Double = {
    val filled = histogram.bins.toSeq.filter(bin => bin.lo == bin.hi).groupBy(_.lo).values
    filled.map(_.size).maxOption.fold(0.0)(_.toDouble / histogram.bins.length)
  }
}
