package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.sql.{RowKindFunction, Snapshot}

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{And, AttributeSet, EqualNullSafe, EqualTo, Expression, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.{Cross, Inner}
import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Filter, Join, JoinHint, LogicalPlan, Project}

/**
 * Streams that are joined by a filter above them, as in `FROM a, b, c WHERE a.x = b.x AND b.y = c.y`.
 * Each condition goes to the first join that has its columns, and a stream follows one with which
 * it shares an equality: without an equality all rows would meet in one task. Spark's optimizer
 * does the same (`ReorderJoin`), but sees a query after this room.
 */
private[changelog] object OrderedJoins extends PredicateHelper {

  def unapply(filter: Filter): Option[LogicalPlan] =
    ordered(filter)(_.count(_.isStreaming) >= 2)

  /**
   * The same of one stream with results that change and several tables. Without a condition in
   * their join, state would keep each row with the whole table.
   */
  def ofTables(query: LogicalPlan): LogicalPlan =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      query.transformDown { case filter: Filter =>
        ordered(filter) { all =>
          val streams = all.filter(_.isStreaming)
          all.size > 2 && streams.size == 1 && StatelessSource.unapply(streams.head).isEmpty
        }.getOrElse(filter)
      }
    }

  private def ordered(filter: Filter)(
      isFor: Seq[LogicalPlan] => Boolean): Option[LogicalPlan] = filter.child match {
    case join: Join if isInner(join) && isOfVersion(join) && filter.deterministic =>
      // What reads the left side only is checked before its rows wait or meet others.
      val (own, rest) = splitConjunctivePredicates(filter.condition)
        .partition(c => isPlain(c) && reads(c, join.left.outputSet))
      Option.when(own.nonEmpty) {
        val joined = join.copy(left = filtered(join.left, own))
        filtered(joined, rest)
      }
    case join: Join if isInner(join) && filter.deterministic =>
      val (all, conditions) = flat(join)
      val (plain, rest) = splitConjunctivePredicates(filter.condition).partition(isPlain)
      if (plain.isEmpty || !isFor(all)) None
      else {
        val joined = ordered(all, conditions ++ plain)
        val sorted = if (joined.output == join.output) joined else Project(join.output, joined)
        Some(rest.reduceOption(And(_, _)).fold(sorted)(Filter(_, sorted)))
      }
    case _ => None
  }

  private def isInner(join: Join): Boolean = join.joinType == Inner || join.joinType == Cross

  /** Whether the time at which a row comes, or its own, chooses what it meets: it stays in place. */
  private[changelog] def isOfVersion(join: Join): Boolean =
    Snapshot.below(join.right).nonEmpty || ReadTemporalJoin.isOf(join)

  private def isPlain(condition: Expression): Boolean =
    condition.deterministic && !SubqueryExpression.hasSubquery(condition) &&
      !RowKindFunction.isIn(condition)

  /** The inputs of nested inner joins, and all of their conditions. */
  private def flat(plan: LogicalPlan): (Seq[LogicalPlan], Seq[Expression]) = plan match {
    case join: Join if isInner(join) && !isOfVersion(join) =>
      val (left, ofLeft) = flat(join.left)
      val (right, ofRight) = flat(join.right)
      (left ++ right, ofLeft ++ ofRight ++ join.condition.toSeq.flatMap(splitConjunctivePredicates))
    case other => (Seq(other), Nil)
  }

  private def ordered(inputs: Seq[LogicalPlan], conditions: Seq[Expression]): LogicalPlan = {
    val (streams, others) = withTables(inputs, conditions)
    val (first, left) = taken(streams.head, others)
    next(first, streams.tail, left)
  }

  /**
   * Joins each table that is no stream with one input that it shares an equality with, first of all
   * with other tables. Spark joins it with a source by itself, and state keeps fewer rows.
   */
  @tailrec
  private def withTables(
      inputs: Seq[LogicalPlan],
      conditions: Seq[Expression]): (Seq[LogicalPlan], Seq[Expression]) = {
    val pairs = for {
      table <- inputs.iterator if !table.isStreaming
      other <- (inputs.filterNot(_.isStreaming) ++ inputs.filter(_.isStreaming)).iterator
      if (other ne table) && conditions.exists(isEquality(_, other, table))
    } yield (other, table)
    if (!pairs.hasNext) (inputs, conditions)
    else {
      val (other, table) = pairs.next()
      val (first, others) = taken(other, conditions)
      val (second, left) = taken(table, others)
      val (here, rest) = left.partition(reads(_, first.outputSet ++ second.outputSet))
      val joined = Join(first, second, Inner, here.reduceOption(And(_, _)), JoinHint.NONE)
      withTables(inputs.filterNot(_ eq table).map(i => if (i eq other) joined else i), rest)
    }
  }

  @tailrec
  private def next(
      joined: LogicalPlan,
      inputs: Seq[LogicalPlan],
      conditions: Seq[Expression]): LogicalPlan =
    if (inputs.isEmpty) filtered(joined, conditions)
    else {
      val chosen =
        inputs.find(i => conditions.exists(isEquality(_, joined, i))).getOrElse(inputs.head)
      val (right, left) = taken(chosen, conditions)
      val both = joined.outputSet ++ right.outputSet
      val (here, later) = left.partition(reads(_, both))
      next(
        Join(joined, right, Inner, here.reduceOption(And(_, _)), JoinHint.NONE),
        inputs.filterNot(_ eq chosen),
        later)
    }

  /** The input with the conditions that read nothing else, and the other conditions. */
  private def taken(
      input: LogicalPlan,
      conditions: Seq[Expression]): (LogicalPlan, Seq[Expression]) = {
    val (own, others) =
      conditions.partition(c => c.references.nonEmpty && reads(c, input.outputSet))
    (filtered(input, own), others)
  }

  private def filtered(input: LogicalPlan, conditions: Seq[Expression]): LogicalPlan =
    conditions.reduceOption(And(_, _)).fold(input)(Filter(_, input))

  private def isEquality(condition: Expression, a: LogicalPlan, b: LogicalPlan): Boolean = {
    def of(x: Expression, y: Expression) =
      x.references.nonEmpty && y.references.nonEmpty &&
        (reads(x, a.outputSet) && reads(y, b.outputSet) ||
          reads(y, a.outputSet) && reads(x, b.outputSet))
    condition match {
      case EqualTo(x, y) => of(x, y)
      case EqualNullSafe(x, y) => of(x, y)
      case _ => false
    }
  }

  private def reads(e: Expression, columns: AttributeSet): Boolean =
    e.references.subsetOf(columns)
}
