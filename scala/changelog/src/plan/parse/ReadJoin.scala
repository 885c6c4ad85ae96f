package io.firesteel.changelog.plan.parse

import io.firesteel.changelog.common.{ChangelogErrors, TooManyRows}
import io.firesteel.changelog.plan.parse.conditions.SideTtl
import io.firesteel.changelog.plan.{ChangelogOperator, ColumnFacts, JoinOutput, JoinedTable, MatchedRows, Projection, PruneColumns, Selection, StatelessJoin, StaticTable, TableJoin, UserText}
import io.firesteel.changelog.sql.RowKindFunction
import io.firesteel.changelog.state.PlanVersion
import io.firesteel.core.plans.ReadByKey
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, AttributeSet, EqualTo, Expression, GetArrayItem, GetStructField, GreaterThan, If, IsNotNull, IsNull, Literal, NamedExpression, PredicateHelper, Size, SubqueryExpression}
import org.apache.spark.sql.catalyst.plans.{Cross, ExistenceJoin, FullOuter, Inner, JoinType, LeftAnti, LeftOuter, LeftSemi, LeftSingle, RightOuter}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, Join, LogicalPlan, Project}

/**
 * Reads a join of a changelog with a table that is no stream.
 *
 * All matches of a key become one array, so each row of the changelog meets one row or none. State
 * keeps the array with the row, and a projection above turns its elements into rows again: a row
 * meets what the table has when the row comes.
 *
 * If no row is ever retracted, Spark runs the join, without state. What neither can run is a join of
 * two streams, one of which has all of its rows in the first micro-batch: rows of the table that
 * stay without a match, rows without a key, joins without an equality.
 */
private[parse] object ReadJoin extends PredicateHelper {

  /**
   * @param version of the plan, see [[PlanVersion]]
   * @param read reads the side that is a stream
   */
  def apply(
      join: Join,
      ttlMs: Long,
      version: Int,
      read: LogicalPlan => ChangelogOperator): ChangelogOperator = {
    val isLeft = join.left.isStreaming
    val (stream, table) = if (isLeft) (join.left, join.right) else (join.right, join.left)
    val ttl = ttlOf(stream, ttlMs, version)
    // Pruned first: an unread column could hide an upsert key.
    val input = PruneColumns(read(stream))
    val parts = Parts(join, input, table)
    val refused = whyNotKept(join, isLeft, input, parts)
    if (join.joinType == LeftSingle && version >= PlanVersion.singleMatches) {
      def alone =
        Option.when(input.facts.changes.insertOnly)(StatelessJoin(join, join.output, input))
      val one = if (isLeft) ofOne(join, input, ttl, version).orElse(alone) else None
      one.getOrElse(throw refused.getOrElse(severalMatches))
    } else if (refused.isEmpty) matches(join, input, ttl, version, table, parts)
    else if (input.facts.changes.insertOnly && !keepsTable(join.joinType, isLeft))
      StatelessJoin(join, join.output, input)
    else if (ReadByKey.isBelow(table)) throw refused.get
    else ReadStreamJoin(join, ttlMs, version, closes = false) { side =>
      if (side eq table) StaticTable(table) else input
    }
  }

  /** The time to live of what a join with a table keeps of a stream. */
  def ttlOf(stream: LogicalPlan, ttlMs: Long, version: Int): Long =
    if (version < PlanVersion.ttlOfInputs) ttlMs
    else SideTtl.of(stream)(StatelessSource.is).getOrElse(ttlMs)

  /**
   * A left join that has one row for each row of the stream, which keeps the stream's keys. None if
   * state cannot keep it. A second match is an error in a `LeftSingle` join, and is not in others.
   */
  def ofOne(
      join: Join,
      input: ChangelogOperator,
      ttlMs: Long,
      version: Int): Option[ChangelogOperator] = {
    val parts = Parts(join, input, join.right)
    Option.when(
      parts.equal.nonEmpty && parts.both.isEmpty && input.facts.upsertKeys.nonEmpty) {
      val found = lookup(join.joinType, input, ttlMs, version, join.right, parts)
      val first = GetArrayItem(found.matches, Literal(0), failOnError = false)
      val only =
        if (join.joinType == LeftSingle) {
          val several = GreaterThan(Size(found.matches, legacySizeOfNull = false), Literal(1))
          If(several, TooManyRows(first.dataType), first)
        } else first
      val columns = join.right.output.zipWithIndex.map { case (column, at) =>
        Alias(GetStructField(only, at), column.name)(column.exprId)
      }
      Projection((input.output: Seq[Attribute]) ++ columns, found)
    }
  }

  /**
   * A join whose condition stands in a filter above it: `FROM a, b WHERE a.id = b.id`. Above other
   * joins the filter stays in place, because the condition of the join decides the contents of
   * state.
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

  private def severalMatches: Throwable = ChangelogErrors.unsupportedOperator(
    "(SELECT ...)",
    "it is correlated by more than equalities of columns",
    "write a LEFT JOIN with a table that has one value for each key")

  /** Whether rows of the table are in the result without a match, or by themselves. */
  private def keepsTable(joinType: JoinType, isLeft: Boolean): Boolean = joinType match {
    case Inner | Cross => false
    case RightOuter => isLeft
    case FullOuter => true
    case _ => !isLeft
  }

  /** The reason why state cannot keep the matches of each row. */
  private def whyNotKept(
      join: Join,
      isLeft: Boolean,
      input: ChangelogOperator,
      parts: Parts): Option[Throwable] = {
    val inner = join.joinType == Inner || join.joinType == Cross
    def because(reason: String, instead: String) = Some(ChangelogErrors.unsupportedOperator(
      s"${JoinOutput.name(join.joinType)} JOIN with a looked-up table",
      reason,
      instead))
    if (keepsTable(join.joinType, isLeft)) because(
      "rows of the table without a match are only known at the end of the stream",
      "write an INNER JOIN, or a LEFT JOIN with the stream on the left")
    else if (join.joinType.isInstanceOf[ExistenceJoin]) because(
      "a value that says whether there is a match has no place in state",
      "write a LEFT SEMI or a LEFT JOIN")
    else if (parts.equal.isEmpty) because(
      "without an equality of two columns, state would keep each row with the whole table",
      "add an equality, such as JOIN t ON a.id = t.id")
    else if (parts.both.nonEmpty && !inner) because(
      s"the condition ${UserText.of(parts.both.head)} reads both sides and is no equality",
      "join the source with it, below the first aggregate"
    )
    else if (input.facts.upsertKeys.isEmpty) because(
      "state cannot keep the matches, because no columns identify the rows of the stream's side",
      "join above a GROUP BY or a ranking, whose keys identify rows, or below the first one"
    )
    else None
  }

  /** The parts of the join condition, by the sides that they read. */
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
      Parts(equal.flatten, ofTheStream, ofTheTable, both)
    }
  }

  /** The rows with their matches. */
  private def matches(
      join: Join,
      input: ChangelogOperator,
      ttlMs: Long,
      version: Int,
      table: LogicalPlan,
      parts: Parts): ChangelogOperator = {
    val found = lookup(join.joinType, input, ttlMs, version, table, parts)
    val keeps = join.joinType == LeftOuter || join.joinType == RightOuter
    join.joinType match {
      case LeftSemi => Projection(join.output, Selection(IsNotNull(found.matches), found))
      case LeftAnti => Projection(join.output, Selection(IsNull(found.matches), found))
      case _ => (parts.both ++ (if (keeps) Nil else parts.stream))
          .foldLeft[ChangelogOperator](MatchedRows(join.output, found, keeps)) { (op, condition) =>
            Selection(condition, op)
          }
    }
  }

  private def lookup(
      joinType: JoinType,
      input: ChangelogOperator,
      ttlMs: Long,
      version: Int,
      table: LogicalPlan,
      parts: Parts): TableJoin = {
    val byPlace = version >= PlanVersion.keysByPlace
    val key = ColumnFacts.smallest(input.facts.upsertKeys, input.output, byPlace).get
    // For a row that the condition excludes, the key is null: it has no match, and computing its
    // key must not fail.
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
}
