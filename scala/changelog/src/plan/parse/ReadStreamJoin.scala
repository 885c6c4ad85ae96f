package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.{ChangelogErrors, StateTypes}
import io.firesteel.changelog.plan.{ChangelogOperator, ComputedColumns, JoinOutput, Projection, Selection, StreamJoin, UserText}
import io.firesteel.changelog.plan.parse.conditions.SideTtl
import io.firesteel.changelog.sql.{InputHint, Snapshot}
import io.firesteel.changelog.state.PlanVersion

import org.apache.spark.sql.catalyst.expressions.{And, EqualNullSafe, EqualTo, Expression, NamedExpression, PredicateHelper, PythonFuncExpression, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.{Cross, ExistenceJoin, FullOuter, Inner, LeftAnti, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Join, JoinHint, LogicalPlan}

/**
 * Reads a join of two streams. One of them may be a table that is read once: its rows never come
 * again, so they are kept forever unless a hint names the table.
 */
private[parse] object ReadStreamJoin extends PredicateHelper {

  /**
   * @param closes whether the watermark may take rows out of state
   * @param closesChanges whether it may take rows that change, too
   * @param read reads a side
   */
  def apply(
      join: Join,
      ttlMs: Long,
      version: Int,
      closes: Boolean,
      closesChanges: Boolean = false)(
      read: LogicalPlan => ChangelogOperator): ChangelogOperator =
    join.joinType match {
      case RightOuter =>
        val mirrored = Join(join.right, join.left, LeftOuter, join.condition, JoinHint.NONE)
        Projection(join.output, apply(mirrored, ttlMs, version, closes, closesChanges)(read))
      case Inner | LeftOuter if Snapshot.below(join.right).nonEmpty =>
        joined(
          join.copy(right = Snapshot.below(join.right).get),
          ttlMs,
          version,
          closes = false,
          read,
          isSnapshot = true)
      case Cross => apply(join.copy(joinType = Inner), ttlMs, version, closes, closesChanges)(read)
      case Inner | LeftOuter | FullOuter | LeftSemi | LeftAnti | _: ExistenceJoin =>
        joined(join, ttlMs, version, closes, read, closesChanges = closesChanges)
      case other =>
        throw ChangelogErrors.unsupportedOperator(
          s"${JoinOutput.name(other)} JOIN of two streams",
          "it has no changelog form",
          "write it as INNER, LEFT, RIGHT, FULL, LEFT SEMI or LEFT ANTI JOIN")
    }

  private def joined(
      join: Join,
      ttlMs: Long,
      version: Int,
      closes: Boolean,
      read: LogicalPlan => ChangelogOperator,
      isSnapshot: Boolean = false,
      closesChanges: Boolean = false): ChangelogOperator = {
    val all = join.condition.toSeq.flatMap(splitConjunctivePredicates)
    all.foreach(requireRepeatable)
    val (ofLeft, ofRight, both) = bySide(join, all)
    val left = filtered(read(join.left), ofLeft)
    val right = filtered(read(join.right), ofRight)
    if (isSnapshot && !left.facts.changes.insertOnly) {
      throw ChangelogErrors.unsupportedOperator(
        "JOIN SNAPSHOT",
        "rows of the left side may be deleted or updated",
        "join the stream before it changes, or leave SNAPSHOT out")
    }
    val pairs = both.flatMap(equality(join, _))
    val (belowLeft, belowRight) =
      (new ComputedColumns(Some("_left")), new ComputedColumns(Some("_right")))
    val leftKeys = pairs.map(p => belowLeft.of(StateTypes.normalForm(p.left)))
    val rightKeys = pairs.map(p => belowRight.of(StateTypes.normalForm(p.right)))
    StateTypes.require("JOIN", leftKeys ++ rightKeys)
    val (above, on) = both.filter(equality(join, _).isEmpty)
      .map(pythonBelow(join, belowLeft, belowRight, _)).partition(callsPython)
    if (above.nonEmpty && join.joinType != Inner) {
      throw ChangelogErrors.unsupportedOperator(
        above.map(UserText.of).mkString(" AND "),
        "a function in Python that reads both sides cannot tell which rows of an outer, SEMI or " +
          "ANTI JOIN have a match",
        "use a function that runs in the JVM, or an INNER JOIN"
      )
    }
    def hinted(side: LogicalPlan) =
      if (version < PlanVersion.whereBelow) InputHint.ttlOf(side)
      else SideTtl.of(side)(StatelessSource.is)
    val ttls =
      join.children.map(side => hinted(side).getOrElse(if (side.isStreaming) ttlMs else 0L))
    val operator = StreamJoin(
      join.joinType,
      leftKeys,
      rightKeys,
      pairs.map(_.matchesNulls),
      on.reduceOption(And(_, _)),
      ttls,
      belowLeft.over(left),
      belowRight.over(right),
      isSnapshot,
      // With a time to live rows leave by that.
      if (closes && ttls.forall(_ == 0L))
        TimeBounds(
          both,
          left,
          right,
          toMillis = version >= PlanVersion.laterTimes,
          ofChanges = closesChanges,
          seesMoves = version >= PlanVersion.movedTimes
        )
      else None,
      isMulti = version >= PlanVersion.joinsAgain && join.children.forall(InputHint.areJoined)
    )
    Projection(join.output: Seq[NamedExpression], filtered(operator, above))
  }

  /**
   * The condition with calls of Python that read one side as columns of that side: Spark evaluates
   * them in an operator of their own.
   */
  private def pythonBelow(
      join: Join,
      left: ComputedColumns,
      right: ComputedColumns,
      condition: Expression): Expression = {
    def isOf(side: LogicalPlan)(e: Expression) = e.references.subsetOf(side.outputSet)
    condition.transformDown {
      case e if callsPython(e) && isOf(join.left)(e) => left.of(e)
      case e if callsPython(e) && isOf(join.right)(e) => right.of(e)
    }
  }

  private def callsPython(e: Expression): Boolean = e.exists(_.isInstanceOf[PythonFuncExpression])

  private def filtered(input: ChangelogOperator, conditions: Seq[Expression]): ChangelogOperator =
    conditions.reduceOption[Expression](And(_, _)).fold(input)(Selection(_, input))

  /**
   * The conditions that read one side only and may be checked below the join, and all others. Rows
   * of a side that the join preserves stay, whatever the condition says.
   */
  private def bySide(
      join: Join,
      all: Seq[Expression]): (Seq[Expression], Seq[Expression], Seq[Expression]) = {
    def isOf(side: LogicalPlan)(e: Expression) = e.references.subsetOf(side.outputSet)
    val (ofLeft, others) =
      if (join.joinType == Inner || join.joinType == LeftSemi) all.partition(isOf(join.left))
      else (Nil, all)
    val (ofRight, both) =
      if (join.joinType == FullOuter) (Nil, others)
      else others.partition(e => e.references.nonEmpty && isOf(join.right)(e))
    (ofLeft, ofRight, both)
  }

  final private case class Equality(left: Expression, right: Expression, matchesNulls: Boolean)

  /** An equality of an expression over the left side with one over the right. */
  private def equality(join: Join, condition: Expression): Option[Equality] = {
    def of(a: Expression, b: Expression, matchesNulls: Boolean) =
      if (reads(a, join.left) && reads(b, join.right)) Some(Equality(a, b, matchesNulls))
      else if (reads(b, join.left) && reads(a, join.right)) Some(Equality(b, a, matchesNulls))
      else None
    condition match {
      case EqualTo(a, b) => of(a, b, matchesNulls = false)
      case EqualNullSafe(a, b) => of(a, b, matchesNulls = true)
      case _ => None
    }
  }

  private def reads(e: Expression, side: LogicalPlan): Boolean =
    e.references.nonEmpty && e.references.subsetOf(side.outputSet)

  /** Rows meet in later micro-batches, and meet again when one of them is retracted. */
  private def requireRepeatable(condition: Expression): Unit =
    if (Repeatable.varies(condition)) {
      throw (
        if (SubqueryExpression.hasSubquery(condition))
          ChangelogErrors.unsupportedOperator(
            UserText.of(condition),
            "the condition of a join may not read such a subquery",
            "compute it as a column of its side, in a subquery below the join")
        else ChangelogErrors.notRepeatable("Join", UserText.of(condition)))
    }
}
