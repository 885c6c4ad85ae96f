package io.firesteel.shuffle

import scala.annotation.tailrec

import io.firesteel.core.plans.NativeOperators
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, Expression, IsNotNull, NamedExpression}
import org.apache.spark.sql.catalyst.plans.{LeftOuter, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.{FilterExec, ProjectExec, SortExec, SparkPlan}
import org.apache.spark.sql.execution.adaptive.{AQEShuffleReadExec, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.aggregate.BaseAggregateExec
import org.apache.spark.sql.execution.exchange.ShuffleExchangeExec
import org.apache.spark.sql.execution.joins.BaseJoinExec
import org.apache.spark.sql.execution.window.WindowExecBase
import org.apache.spark.sql.internal.SQLConf

/**
 * Facts from a finished shuffle about the keys of a shuffle above it. In a chain of aggregates by
 * (a, b, c), (a, b) and a, the first shuffle counts the values of a. The second may then spread its
 * rows by a, although nothing was known of a when the query began.
 */
private[shuffle] object FinishedShuffle {

  /** Facts about the keys of a changed shuffle, from a shuffle below that has run. */
  def facts(change: Coarsened): Option[KeyFacts] = counted(change).flatMap(_.counts.facts)

  /**
   * The node that keeps the decision. If a new plan equals the old one, adaptive execution keeps
   * the old nodes and with them the earlier decision.
   */
  def subject(change: Coarsened): Option[LogicalPlan] =
    counted(change).flatMap(_.child.collectFirst(Function.unlift(_.logicalLink)))

  private def counted(change: Coarsened): Option[CountedKeysExec] =
    columnsOf(change).flatMap(origin(change.shuffle.child, _)).collect {
      case (stage: ShuffleQueryStageExec, keys) if stage.isMaterialized =>
        // A reused shuffle has other columns at the same places.
        val places = keys.map(key => stage.output.indexWhere(_.exprId == key.exprId))
        counted(stage.shuffle.child).find { counting =>
          places == counting.keys.map(k => counting.output.indexWhere(_.exprId == k.exprId))
        }
    }.flatten

  /**
   * The plan, with shuffles that have yet to run counting the keys of the `unknown` shuffles above
   * them.
   */
  def counting(plan: SparkPlan, unknown: Seq[Coarsened]): SparkPlan = {
    val wanted =
      unknown.flatMap(change => columnsOf(change).flatMap(origin(change.shuffle.child, _)))
    if (!SQLConf.get.getConf(ShuffleConf.SAMPLE)) plan
    else plan.transformDown { case shuffle: ShuffleExchangeExec =>
      val keys = wanted.collect { case (place, keys) if place eq shuffle => keys }.distinct
      // Rows of another extension's columnar operators go into its own shuffle as they are.
      if (keys.isEmpty || NativeOperators.isOthers(shuffle.child)) shuffle
      else shuffle.withNewChildren(Seq(keys.foldLeft(shuffle.child)(counted)))
    }
  }

  private def counted(plan: SparkPlan, keys: Seq[Attribute]): SparkPlan = {
    val tasks = math.max(plan.outputPartitioning.numPartitions, 1)
    val counts = new KeyCounts
    plan.session.sparkContext.register(counts)
    val rows =
      math.max(SQLConf.get.getConf(ShuffleConf.SAMPLE_ROWS) / tasks, KeyCounts.fewestOfTask)
    CountedKeysExec(keys, rows, counts, plan)
  }

  private def counted(plan: SparkPlan): Seq[CountedKeysExec] = plan match {
    case counting: CountedKeysExec => counting +: counted(counting.child)
    case _ => Nil
  }

  private def columnsOf(change: Coarsened): Option[Seq[Attribute]] = {
    val columns = change.keys.map {
      case column: Attribute => Some(column)
      case key => ExactColumn.underCasts(key)
    }
    if (columns.forall(_.isDefined)) Some(columns.flatten) else None
  }

  /** The shuffle that the rows come from, with the keys there, if no value is lost on the way. */
  @tailrec
  private def origin(plan: SparkPlan, keys: Seq[Attribute]): Option[(SparkPlan, Seq[Attribute])] =
    plan match {
      case _: ShuffleExchangeExec | _: ShuffleQueryStageExec => Some((plan, keys))
      case _ =>
        below(plan) match {
          case Some(child) =>
            val columns = keys.map(inTermsOfInput(plan, _))
            if (columns.forall(child.outputSet.contains)) origin(child, columns) else None
          case None => None
        }
    }

  /** The input, if each of its values is in some row of the output. */
  private def below(plan: SparkPlan): Option[SparkPlan] = plan match {
    case _: BaseAggregateExec | _: ProjectExec | _: SortExec | _: WindowExecBase |
        _: AQEShuffleReadExec | _: TogetherExec | _: CountedKeysExec =>
      plan.children.headOption
    case FilterExec(condition, child) if asksForValues(condition) => Some(child)
    case join: BaseJoinExec if join.joinType == LeftOuter => Some(join.left)
    case join: BaseJoinExec if join.joinType == RightOuter => Some(join.right)
    case _ => None
  }

  /** Null is only one of many values. */
  private[shuffle] def asksForValues(condition: Expression): Boolean = condition match {
    case And(left, right) => asksForValues(left) && asksForValues(right)
    case IsNotNull(_: Attribute) => true
    case _ => false
  }

  private def inTermsOfInput(plan: SparkPlan, key: Attribute): Attribute = {
    val outputs: Seq[NamedExpression] = plan match {
      case project: ProjectExec => project.projectList
      case aggregate: BaseAggregateExec => aggregate.resultExpressions
      case _ => Nil
    }
    outputs.collectFirst {
      case alias @ Alias(column: Attribute, _) if alias.exprId == key.exprId => column
    }.getOrElse(key)
  }
}
