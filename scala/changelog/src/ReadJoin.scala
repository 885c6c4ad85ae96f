package io.firesteel.changelog

import io.firesteel.core.ReadByKey
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeReference, AttributeSet, CreateNamedStruct, EqualTo, Explode, Expression, GetStructField, If, IsNotNull, IsNull, Literal, PredicateHelper}
import org.apache.spark.sql.catalyst.expressions.aggregate.CollectList
import org.apache.spark.sql.catalyst.plans.{Inner, JoinType, LeftAnti, LeftOuter, LeftSemi, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Join, LogicalPlan, Project}
import org.apache.spark.sql.types.ArrayType

/**
 * Reads a join of a changelog with a table that is no stream. What the table has for a key becomes one
 * row with an array, so that a row of the changelog meets one row or none; the array is kept with the
 * row, and its elements are rows again above.
 */
private[changelog] object ReadJoin extends PredicateHelper {

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
    if (parts.both.nonEmpty && join.joinType != Inner) {
      throw unsupported(
        join.joinType,
        s"${parts.both.head.sql} asks more of two rows than equality",
        "put it into a WHERE above the join, or into a view of the table")
    }
    val found = lookup(join.joinType, input, ttlMs, table, parts)
    join.joinType match {
      case LeftSemi => Projection(join.output, Selection(IsNotNull(found.matches), found))
      case LeftAnti => Projection(join.output, Selection(IsNull(found.matches), found))
      case _ => (parts.both ++ (if (keeps) Nil else parts.stream))
          .foldLeft[ChangelogOperator](rows(join, found, table.output, keeps)) { (op, condition) =>
            Selection(condition, op)
          }
    }
  }

  /** Whether rows of the stream without a match stay; an error for joins that cannot be. */
  private def keepsStream(joinType: JoinType, isLeft: Boolean): Boolean = joinType match {
    case Inner => false
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
          "no column of the one side equals one of the other",
          "add an equality, as in ON a.id = b.id")
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
    val keys = InferChangelog.facts(input).upsertKeys
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
    val (joined, matches) = joinedTable(parts.equal.map(_._2), table.output, filtered)
    TableJoin(
      input.output.filter(c => key.contains(c.exprId)),
      streamKeys,
      joined,
      matches,
      ttlMs,
      input)
  }

  /** The table as it is joined, and the column of matches. */
  private def joinedTable(
      keys: Seq[Expression],
      columns: Seq[Attribute],
      table: LogicalPlan): (JoinedTable, Attribute) = {
    val element = CreateNamedStruct(
      columns.zipWithIndex.flatMap { case (c, i) => Seq(Literal(s"_$i"), c) })
    if (ReadByKey.isBelow(table)) {
      val isThere = Alias(Literal(true), "is_there")()
      val asked = ReadByKey.inPlace(table, "the lookup's answers are kept in state for retractions")
      val matches = AttributeReference("matches", ArrayType(element.dataType, false))()
      val plan = Project(asked.output :+ isThere, asked)
      (JoinedTable.ByKey(keys, isThere.toAttribute, element, plan), matches)
    } else {
      val named = keys.map(Alias(_, "key")())
      val all = Alias(CollectList(element).toAggregateExpression(), "matches")()
      val plan = Aggregate(keys, named :+ all, table)
      (JoinedTable.Whole(named.map(_.toAttribute), plan), all.toAttribute.withNullability(true))
    }
  }

  /** A row for each match, in the columns of the join. */
  private def rows(
      join: Join,
      found: TableJoin,
      table: Seq[Attribute],
      keeps: Boolean): ChangelogOperator = {
    val element = found.matches.dataType.asInstanceOf[ArrayType].elementType
    val one = AttributeReference("match", element, nullable = keeps)()
    val columns = join.output.map { column =>
      table.indexWhere(_.exprId == column.exprId) match {
        case -1 => column
        case at => Alias(GetStructField(one, at), column.name)(column.exprId)
      }
    }
    Projection(columns, Generation(Explode(found.matches), keeps, Seq(one), found))
  }

  private def unsupported(joinType: JoinType, reason: String, instead: String): Throwable =
    ChangelogErrors.unsupportedOperator(s"${joinType.sql} JOIN", reason, instead)
}
