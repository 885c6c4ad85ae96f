package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.{ChangelogOperator, JoinedTable, MatchedRows, Projection, PruneColumns, Selection, TableJoin, UserText}
import io.firesteel.changelog.sql.RowKindFunction
import io.firesteel.core.plans.ReadByKey
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeSet, EqualTo, Expression, If, IsNotNull, IsNull, Literal, NamedExpression, PredicateHelper, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.{Cross, Inner, JoinType, LeftAnti, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan, Project}

/**
 * Reads a join of a changelog with a table that is no stream. What the table has for a key becomes one
 * row with an array, so that a row of the changelog meets one row or none; the array is kept with the
 * row, and its elements are rows again above.
 */
private[parse] object ReadJoin extends PredicateHelper {

  /** @param read the operators of the side that is a stream */
  def apply(
      join: Join,
      ttlMs: Long,
      read: LogicalPlan => ChangelogOperator): ChangelogOperator = {
    val isLeft = join.left.isStreaming
    val (stream, table) = if (isLeft) (join.left, join.right) else (join.right, join.left)
    val keeps = keepsStream(join.joinType, isLeft)
    // Columns that nothing reads may hide what identifies a row.
    val input = PruneColumns(read(stream))
    val parts = Parts(join, input, table)
    if (parts.both.nonEmpty && join.joinType != Inner && join.joinType != Cross) {
      throw unsupported(
        join.joinType,
        s"${UserText.of(parts.both.head)} asks more of two rows than equality",
        "put it into a WHERE above the join, or into a view of the table"
      )
    }
    val found = lookup(join.joinType, input, ttlMs, table, parts)
    join.joinType match {
      case LeftSemi => Projection(join.output, Selection(IsNotNull(found.matches), found))
      case LeftAnti => Projection(join.output, Selection(IsNull(found.matches), found))
      case _ => (parts.both ++ (if (keeps) Nil else parts.stream))
          .foldLeft[ChangelogOperator](MatchedRows(join.output, found, keeps)) { (op, condition) =>
            Selection(condition, op)
          }
    }
  }

  /**
   * A join whose condition stands in a filter above it: `FROM a, b WHERE a.id = b.id`. Of another join such a
   * filter stays where it is: what is below decides what is kept in state.
   */
  object Filtered {
    def unapply(filter: Filter): Option[Join] = filter.child match {
      case join: Join if isBare(join) && isPart(filter.condition) =>
        val all = join.condition.foldRight(filter.condition)(And(_, _))
        Some(join.copy(condition = Some(all)))
      case _ => None
    }

    private def isBare(join: Join): Boolean =
      join.children.count(_.isStreaming) == 1 &&
        (join.joinType == Cross || join.joinType == Inner && join.condition.isEmpty)

    private def isPart(condition: Expression): Boolean =
      condition.deterministic && !SubqueryExpression.hasSubquery(condition) &&
        !RowKindFunction.isIn(condition)
  }

  /** Whether rows of the stream without a match stay; an error for joins that cannot be. */
  private def keepsStream(joinType: JoinType, isLeft: Boolean): Boolean = joinType match {
    case Inner | Cross => false
    case LeftOuter if isLeft => true
    case RightOuter if !isLeft => true
    case LeftSemi | LeftAnti if isLeft => true
    case other => throw unsupported(
        other,
        "rows of the table that have no match cannot be told without the end of the stream",
        "write INNER, or keep the stream's side (LEFT JOIN with the stream on the left)"
      )
  }

  /** The condition of a join, by what it asks of which side. */
  final private case class Parts(
      equal: Seq[(Expression, Expression)],
      stream: Seq[Expression],
      table: Seq[Expression],
      both: Seq[Expression])

  private object Parts {
    def apply(join: Join, input: ChangelogOperator, table: LogicalPlan): Parts = {
      def ofStream(e: Expression) = e.references.subsetOf(AttributeSet(input.output))
      def ofTable(e: Expression) = e.references.nonEmpty && e.references.subsetOf(table.outputSet)
      val all = join.condition.toSeq.flatMap(splitConjunctivePredicates)
      val equal = all.map {
        case EqualTo(a, b) if ofStream(a) && ofTable(b) => Some(a -> b)
        case EqualTo(a, b) if ofStream(b) && ofTable(a) => Some(b -> a)
        case _ => None
      }
      val others = all.zip(equal).collect { case (condition, None) => condition }
      val (ofTheTable, rest) = others.partition(ofTable)
      val (ofTheStream, both) = rest.partition(ofStream)
      if (equal.flatten.isEmpty) {
        throw unsupported(
          join.joinType,
          "no column of the one side equals one of the other, so that each row would be kept with all rows " +
            "of the table",
          "add an equality, as in JOIN t ON a.id = t.id"
        )
      }
      Parts(equal.flatten, ofTheStream, ofTheTable, both)
    }
  }

  private def lookup(
      joinType: JoinType,
      input: ChangelogOperator,
      ttlMs: Long,
      table: LogicalPlan,
      parts: Parts): TableJoin = {
    val keys = input.facts.upsertKeys
    if (keys.isEmpty) {
      throw unsupported(
        joinType,
        "no columns of what is joined identify its rows, by which their matches could be kept",
        "join above a GROUP BY or a ranking, whose keys do, or below the first of them"
      )
    }
    val key = keys.minBy(k => (k.size, k.map(_.id).toSeq.sorted.mkString(" ")))
    // A row that the condition excludes has no key, and so no match; and it may not fail.
    val streamKeys = parts.equal.map { case (stream, _) =>
      if (parts.stream.isEmpty) stream
      else If(
        parts.stream.reduce[Expression](And(_, _)),
        stream,
        Literal(null, stream.dataType))
    }
    val filtered = parts.table.foldLeft(table)((plan, condition) => Filter(condition, plan))
    TableJoin(
      input.output.filter(c => key.contains(c.exprId)),
      streamKeys,
      joinedTable(joinType, parts.equal.map(_._2), table.output, filtered),
      NamedExpression.newExprId,
      ttlMs,
      input
    )
  }

  private def joinedTable(
      joinType: JoinType,
      keys: Seq[Expression],
      output: Seq[Attribute],
      table: LogicalPlan): JoinedTable = {
    val once = joinType == LeftSemi || joinType == LeftAnti
    val columns = if (once) Nil else output
    if (ReadByKey.isBelow(table)) {
      val isThere = Alias(Literal(true), "is_there")()
      val asked = ReadByKey.inPlace(table, "the lookup's answers are kept in state for retractions")
      val plan = Project(asked.output :+ isThere, asked)
      JoinedTable.ByKey(keys, isThere.toAttribute, columns, plan)
    } else JoinedTable.Whole(keys, columns, once, table)
  }

  private def unsupported(joinType: JoinType, reason: String, instead: String): Throwable =
    ChangelogErrors.unsupportedOperator(s"${joinType.sql} JOIN", reason, instead)
}
