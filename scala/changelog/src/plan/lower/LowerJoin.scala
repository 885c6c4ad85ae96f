package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.common.{StateTypes, WindowEnds}
import io.firesteel.changelog.plan.{ChangelogOperator, Inferred, JoinedSide, StreamJoin}
import io.firesteel.changelog.state.{ChangelogContract, InputDistribution, KeptCalls, MemberRecord, Slots, TimeToLive, Watermark, WholeKey}

import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeSet, ExprId, Expression, IsNotNull, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}

/**
 * Writes a join of two streams. A row with a null in a key that is compared by `=` matches nothing.
 * If its side is not preserved, it is filtered out below the shuffle. Otherwise it is in the result
 * as it is, and is spread over all tasks, unless that costs a shuffle, see [[PlaceState]]. Without
 * keys one task has all rows, or they are in [[Slots]].
 */
private[lower] object LowerJoin {

  def apply(
      join: StreamJoin,
      inferred: Inferred,
      inputs: Seq[Written],
      member: MemberRecord,
      placed: Placed): Written = {
    val (left, right) = (join.left, join.right)
    Seq(left, right).zip(inferred.inputs).foreach { case (side, its) =>
      if (its.changes.insertOnly) StateTypes.requireRows("JOIN", side.output)
      else StateTypes.requireValues("JOIN", side.output)
    }
    val preserved = join.preserved
    val strict = join.matchesNulls.indices.filterNot(join.matchesNulls(_))
    // A left side of one row has nothing to spread, and no column to do it by.
    def hashed(columns: Seq[Attribute]) = columns.filter(c => StateTypes.isHashed(c.dataType))
    val leftIdentity = hashed(join.leftIdentity)
    val isSpread = preserved.head && strict.nonEmpty && placed.spreadsNulls &&
      leftIdentity.nonEmpty
    val kept = new KeptCalls
    // Where rows leave, those in state do not say whether a row had a match.
    val counts = join.condition.nonEmpty || join.ttlMs > 0 || join.bounds.nonEmpty
    def side(
        number: Int,
        operator: ChangelogOperator,
        keys: Seq[Attribute],
        identity: Seq[Attribute]): (JoinedSide, LogicalPlan) = {
      val rows = inputs(number)
      val plan = if (preserved(number)) rows.plan else withKeys(rows.plan, strict.map(keys))
      val spread = Option.when(isSpread)(InputDistribution.spread(strict.map(keys), identity))
      val columns: Seq[NamedExpression] = operator.output
      val (all, whole) =
        if (join.isInSlots && number == 0) {
          val slot = Slots.of(identity, kept)
          (Seq(slot.toAttribute), Project(columns ++ rows.kind :+ slot, plan))
        } else if (join.isInSlots) {
          val (everywhere, slot) = Slots.everywhere(plan, kept)
          (Seq(slot), everywhere)
        } else {
          val read = Project(columns ++ spread ++ rows.kind, plan)
          WholeKey.orWhole(keys ++ spread.map(_.toAttribute), read)
        }
      val ordered = Project(
        (operator.output ++ all).distinctBy(_.exprId) ++ rows.kind,
        whole)
      val its = JoinedSide(
        all,
        operator.output,
        if (preserved(number)) strict else Nil,
        join.single(number),
        replaces = inferred.inputs(number).changes.updates && !inferred.inputs(number).updateBefore,
        countsMatches = counts && (number == 0 && join.keepsLeftAlone || preserved(number)),
        join.bounds.map { case (l, r) => if (number == 0) l else r }
      )
      (its, ordered)
    }
    val (leftSide, leftPlan) = side(0, left, join.leftKeys, leftIdentity)
    val (ofRight, ownPlan) = side(1, right, join.rightKeys, hashed(right.output))
    val names = if (shareColumns(leftPlan, ownPlan)) newNames(ofRight) else Map.empty[ExprId, Alias]
    def named(column: Attribute): Attribute = names.get(column.exprId).fold(column)(_.toAttribute)
    val rightSide = ofRight.copy(
      ofRight.keys.map(named),
      ofRight.columns.map(named),
      bound = ofRight.bound.map(its => its.copy(time = named(its.time))))
    val rightPlan =
      if (names.isEmpty) ownPlan
      else Project(ownPlan.output.map(c => names.getOrElse(c.exprId, c)), ownPlan)
    val kind = ChangelogNode.newKind()
    val below = JoinsAgain.below(join, leftSide, inputs.head.plan, placed)
    // A filter between the two joins, which a restart may add, decides what state has.
    val noted =
      below.fold(member)(_ => member.copy(places = member.places.map(_ + ", joined again")))
    val node = ChangelogJoin(
      join.joinType,
      leftSide,
      rightSide,
      join.condition.map(Inlined(_).transform { case column: Attribute => named(column) }),
      join.pairedBy.map(_.map(named)),
      join.output.filter { column =>
        join.unread(column.exprId) && !join.pairedBy.exists(_.exists(_.exprId == column.exprId))
      }.map(named),
      join.isInSlots,
      join.isSnapshot,
      below,
      ChangelogContract(
        inputs.map(_.kind),
        Some(kind),
        inferred.updateBefore,
        Seq(leftSide, rightSide).map(_.bound.map(_.time)),
        TimeToLive.ofTables(join.ttls),
        new Watermark(join.bounds.fold(0L)(_._1.after), steps(join)),
        inferred.mode,
        noted,
        placed.placement,
        kept
      ),
      AnalyzedColumns.of(leftPlan),
      AnalyzedColumns.of(rightPlan)
    )
    val columns = join.output.map { column =>
      val has = named(column)
      if (has eq column) column else Alias(has, column.name)(column.exprId)
    }
    if (inferred.changes.insertOnly) Written(Project(columns, node), None)
    else Written(Project(columns :+ kind, node), Some(kind))
  }

  /**
   * When to look for rows that leave, which reads the whole store: once for each window. A row whose
   * window began between may stay for one more, and meets nothing, because what would match it is late.
   */
  private def steps(join: StreamJoin): Option[WindowEnds] =
    for ((l, r) <- join.bounds; a <- l.size; b <- r.size) yield WindowEnds(math.min(a, b), 0L)

  /**
   * Whether both inputs have a column of one id, as two readings of one common table expression
   * have. An alias then tells their columns apart, and Spark's optimizer drops it: of joins it
   * knows its own only.
   */
  private def shareColumns(left: LogicalPlan, right: LogicalPlan): Boolean = {
    def ids(plan: LogicalPlan) = AttributeSet(plan.flatMap(_.output))
    ids(left).intersect(ids(right)).nonEmpty
  }

  /** The optimizer keeps an alias with a name of its own. */
  private def newNames(side: JoinedSide): Map[ExprId, Alias] =
    (side.keys ++ side.columns).distinctBy(_.exprId)
      .map(c => c.exprId -> Alias(c, s"right_${c.name}")()).toMap

  private def withKeys(plan: LogicalPlan, keys: Seq[Attribute]): LogicalPlan =
    keys.filter(_.nullable).map(IsNotNull(_): Expression).reduceOption(And(_, _))
      .fold(plan)(Filter(_, plan))
}
