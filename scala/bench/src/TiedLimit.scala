package io.firesteel.bench

import org.apache.spark.sql.{DataFrame, Row, SparkSession}
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.catalyst.expressions.{Alias, Expression, IntegerLiteral}
import org.apache.spark.sql.catalyst.plans.logical.{GlobalLimit, LocalLimit, LogicalPlan, Project, Sort, WithCTE}
import org.apache.spark.sql.firesteel.executionOf

/**
 * The freedom of `ORDER BY … LIMIT n`: any of the rows that tie for the last place may be last.
 *
 * @param certain rows before those that tie; every right answer has them all
 * @param tied rows that tie; any of them may fill the rest
 */
final case class TiedLimit(certain: Seq[Row], tied: Seq[Row]) {

  /** Whether `answer`, which has the right number of rows, is one of the right answers. */
  def allows(answer: Seq[Row]): Boolean = {
    val beside = RowBags.difference(certain, answer)
    beside.onlyLeft.isEmpty && RowBags.difference(beside.onlyRight, tied).onlyLeft.isEmpty
  }
}

object TiedLimit {

  /**
   * The freedom of `query`; `None` if it does not end in `ORDER BY … LIMIT n`, or if no row lies
   * beyond the limit.
   */
  def of(spark: SparkSession, query: DataFrame): Option[TiedLimit] =
    limited(executionOf(query).analyzed).flatMap { case (limit, ordered, width) =>
      val execution = executionOf(spark, ordered)
      val value = CatalystTypeConverters.createToScalaConverter(execution.analyzed.schema)
      val rows = execution.executedPlan
        .executeToIterator()
        .map(row => split(value(row).asInstanceOf[Row], width))
      val first = (1 to limit).iterator.takeWhile(_ => rows.hasNext).map(_ => rows.next()).toVector
      Option.when(first.size == limit && limit > 0) {
        val (_, last) = first.last
        val (certain, tiedInside) = first.span { case (_, key) => !RowBags.same(key, last) }
        val tiedBeyond = rows.takeWhile { case (_, key) => RowBags.same(key, last) }
        TiedLimit(certain.map(_._1), (tiedInside ++ tiedBeyond).map(_._1))
      }
    }

  /**
   * The limit, the plan below it with the sort keys as additional last columns, and the number of
   * its own columns.
   */
  private def limited(plan: LogicalPlan): Option[(Int, LogicalPlan, Int)] = plan match {
    case ctes: WithCTE =>
      limited(ctes.plan).map { case (limit, ordered, width) =>
        (limit, ctes.copy(plan = ordered), width)
      }
    case global: GlobalLimit =>
      (global.limitExpr, global.child) match {
        case (IntegerLiteral(limit), local: LocalLimit) =>
          sortOf(local.child).map { sort =>
            val output = local.child.output
            (limit, Project(output ++ keys(sort.order.map(_.child)), sort), output.size)
          }
        case _ => None
      }
    case _ => None
  }

  /** If the answer lacks columns of the order, a projection lies above the sort. */
  private def sortOf(plan: LogicalPlan): Option[Sort] = plan match {
    case sort: Sort if sort.global => Some(sort)
    case project: Project if project.projectList.forall(project.child.outputSet.contains) =>
      sortOf(project.child)
    case _ => None
  }

  private def keys(order: Seq[Expression]): Seq[Alias] =
    order.zipWithIndex.map { case (key, i) => Alias(key, s"order$i")() }

  private def split(row: Row, width: Int): (Row, Row) = {
    val (own, keys) = row.toSeq.splitAt(width)
    (Row.fromSeq(own), Row.fromSeq(keys))
  }
}
