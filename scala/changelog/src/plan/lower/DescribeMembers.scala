package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.plan.{ChangeEvents, ChangelogOperator, ClosedWindows, Expansion, Generation, GroupAggregate, HeldRows, HeldSessions, Inferred, JoinOutput, JoinedTable, Normalize, OverAggregate, Projection, QueryText, Selection, SharedRows, Source, SourceChanges, Stateful, StatelessJoin, StaticTable, StreamJoin, TableJoin, TemporalJoin, TopN, UnionAll}
import io.firesteel.changelog.state.{CallRecord, MemberRecord, PlanVersion}

import java.util.IdentityHashMap

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions.{Attribute, ExprId, SubqueryExpression}

/**
 * The record of each operator with state for the checkpoint, see [[MemberRecord]].
 *
 * A filter or projection above an operator with state decides which of its changes were emitted,
 * and in which form. So its condition or columns belong to the record of the operator below it. If
 * a result is append-only, nothing is retracted: a new condition holds from the restart on, as in
 * Spark.
 *
 * @param version how the query is read as operators: a checkpoint keeps the texts of its version
 */
final private[changelog] class DescribeMembers(version: Int) {
  import DescribeMembers._

  private val tellsSides = version >= PlanVersion.textsOfSides
  private val ofVariables = version >= PlanVersion.variables
  private val tellsReaders = version >= PlanVersion.tellsReaders

  /** The record of the whole result, for complete mode. */
  def whole(root: Inferred): MemberRecord =
    MemberRecord(
      "Table",
      filters = ofSources(root.operator, Nil).sorted,
      columns = root.operator.output.map(textOf(root.operator).of))

  def apply(root: Inferred): IdentityHashMap[ChangelogOperator, MemberRecord] = found(root).members

  /**
   * What a plan reads of each shared part whose rows change, by the part's number: a text for each
   * place, in any order.
   */
  def readers(root: Inferred): Map[Int, Seq[String]] =
    if (!tellsReaders) Map.empty
    else found(root).readers.toSeq.groupMap(_._1)(_._2)

  /** What a plan asks of rows of sources of changes without keys; none if it passes none on. */
  def asked(root: Inferred): Option[Seq[String]] =
    Option.when(passesSource(root.operator))(ofSources(root.operator, Nil))

  private def passesSource(operator: ChangelogOperator): Boolean = operator match {
    case _: SourceChanges => true
    case _: Stateful => false
    case SharedRows(read) => read.asked.nonEmpty
    case other => other.inputs.exists(passesSource)
  }

  /** What columns of the result are. Equal texts get a number: calls of functions without a name. */
  def texts(root: Inferred, columns: Seq[Attribute]): Seq[String] = {
    val all = columns.map(textOf(root.operator).of)
    all.zipWithIndex.map { case (text, i) =>
      val before = all.take(i).count(_ == text)
      if (before == 0) text else s"$text #$before"
    }
  }

  private def found(root: Inferred): Found = {
    val found = new Found
    val top = textOf(root.operator)
    describe(root.operator, Above(Nil, root.operator.output.map(top.of)), found)
    found
  }

  private def describe(operator: ChangelogOperator, above: Above, found: Found): Unit = {
    val below = textOf(operator.inputs)
    operator match {
      case selection: Selection =>
        describe(
          selection.input,
          above.copy(filters = above.filters :+ below.of(selection.condition)),
          found)
      case generation: Generation =>
        val keeps = if (tellsReaders && generation.outer) "outer " else ""
        val made = s"generate $keeps${below.of(generation.generator)}"
        describe(generation.input, above.copy(filters = above.filters :+ made), found)
      case _: Stateful =>
        val its = member(operator, above, below)
        val asked = its.filters ++ operator.inputs.flatMap(ofSources(_, Nil))
        found.members.put(operator, its.copy(filters = asked.sorted))
        operator.inputs.foreach(describeInput(_, found))
      case SharedRows(read) =>
        if (!read.told.changes.insertOnly) found.readers += read.part.id -> above.text
      case _ => operator.inputs.foreach(describe(_, above, found))
    }
  }

  private def describeInput(input: ChangelogOperator, found: Found): Unit =
    describe(input, Above(Nil, input.output.map(textOf(input).of)), found)

  /**
   * Conditions on the rows of sources of changes without keys. Such a source may retract a row that
   * the old condition left out, and state does not say that it never was there.
   */
  private def ofSources(operator: ChangelogOperator, above: Seq[String]): Seq[String] =
    if (version < PlanVersion.conditionsOfSources) Nil
    else {
      def asked(text: String) = above :+ s"below $text"
      operator match {
        case selection: Selection =>
          ofSources(selection.input, asked(textOf(selection.inputs).of(selection.condition)))
        case generation: Generation =>
          val keeps = if (generation.outer) "outer " else ""
          val made = textOf(generation.inputs).of(generation.generator)
          ofSources(generation.input, asked(s"generate $keeps$made"))
        case _: SourceChanges => above
        case SharedRows(read) => read.asked.fold(Seq.empty[String])(above ++ _)
        case _: Stateful => Nil
        case other => other.inputs.flatMap(ofSources(_, above))
      }
    }

  private def member(
      operator: ChangelogOperator,
      above: Above,
      below: QueryText): MemberRecord = {
    val empty =
      if (operator.facts.changes.insertOnly) MemberRecord(operator.name)
      else MemberRecord(
        operator.name,
        filters = above.filters.sorted,
        columns = above.columns.sorted)
    operator match {
      case aggregate: GroupAggregate =>
        empty.copy(
          keys = aggregate.keys.map(below.of),
          calls = calls(aggregate, below).map(CallRecord(_)),
          places = aggregate.panes.map(_.toString).orElse(aggregate.gap.map(gapOf))
        )
      case topN: TopN =>
        empty.copy(
          keys = topN.partition.map(below.of),
          order = topN.order.map(below.of),
          places = Some(s"${topN.places}${if (topN.once.isEmpty) "" else ", once"}"),
          stored = topN.input.output.map(below.of)
        )
      case over: OverAggregate =>
        empty.copy(
          keys = over.partition.map(below.of),
          calls = over.calls.map(call => CallRecord(below.of(call))),
          order = over.order.map(below.of),
          stored = over.input.output.map(below.of)
        )
      case held: HeldRows =>
        empty.copy(keys = held.by.map(below.of), stored = typed(held.output, below))
      case held: HeldSessions =>
        empty.copy(
          keys = held.keys.map(below.of),
          places = Some(gapOf(held.gap)),
          stored = typed(held.input.output, below))
      case join: TemporalJoin =>
        val text = ofSides(join.left, join.right)
        empty.copy(
          keys = join.leftKeys.zip(join.rightKeys).map { case (l, r) =>
            s"${text.of(l)} = ${text.of(r)}"
          },
          order = join.order.map(text.of),
          calls = join.condition.toSeq.map(c => CallRecord(text.of(c))),
          stored = typed(join.left.output ++ join.right.output, text)
        )
      case normalize: Normalize =>
        empty.copy(
          keys = normalize.keys.map(below.of),
          order = normalize.sequence.map(below.of),
          stored = normalize.columns.map { column =>
            // What is hashed are all columns of the source, also those that nothing reads.
            if (normalize.identity.exists(_.exprId == column.exprId)) MemberRecord.identity
            else below.of(column)
          }
        )
      case join: TableJoin =>
        empty.copy(
          keys = join.key.map(below.of),
          calls = join.streamKeys.map(key => CallRecord(below.of(key))),
          stored = join.input.output.map(below.of) ++
            (if (tellsSides) join.table.columns.zipWithIndex.map { case (column, at) =>
               kept(join.table, column, at)
             }
             else Nil)
        )
      case join: StreamJoin =>
        val text = ofSides(join.left, join.right)
        val rows = join.single.map(isOne => if (isOne) "one row" else "rows")
        empty.copy(
          keys = join.leftKeys.zip(join.rightKeys).zip(join.matchesNulls).map {
            case ((l, r), nulls) => s"${text.of(l)} ${if (nulls) "<=>" else "="} ${text.of(r)}"
          },
          calls = join.condition.toSeq.map(c => CallRecord(text.of(c))),
          // What a row of state is depends on whether a key has one row.
          places = Some((JoinOutput.name(join.joinType) +: rows).mkString(", ")),
          stored = (join.left.output ++ join.right.output).map(text.of)
        )
      case _ => empty
    }
  }

  /** A column that state keeps of a table, by its place. */
  private def kept(table: JoinedTable, column: Attribute, at: Int): String = table match {
    case JoinedTable.Values(values) =>
      values(at).collect { case its: SubqueryExpression => its.plan.output.map(_.name) }.flatten
        .mkString("table.(", ", ", ")")
    case _ => s"table.${column.name}"
  }

  /** Columns that state keeps as bytes, whose types its schema does not have. */
  private def typed(columns: Seq[Attribute], text: QueryText): Seq[String] =
    columns.map(c => s"${text.of(c)} ${c.dataType.catalogString}")

  /** Both sides may have a column of one name. */
  private def ofSides(left: ChangelogOperator, right: ChangelogOperator): QueryText = new QueryText(
    Seq(left -> "left.", right -> "right.").flatMap { case (side, prefix) =>
      val text = textOf(side)
      side.output.map(c => c.exprId -> (prefix + text.of(c)))
    }.toMap,
    ofVariables
  )

  private def calls(aggregate: GroupAggregate, below: QueryText): Seq[String] =
    aggregate.functions.zip(aggregate.distinct).map { case (function, isDistinct) =>
      (if (isDistinct) "distinct " else "") + below.of(function)
    }

  private def gapOf(micros: Long): String = s"gap of $micros microseconds"

  private def textOf(operator: ChangelogOperator): QueryText = textOf(Seq(operator))

  /** The text of the operators' columns. */
  private def textOf(operators: Seq[ChangelogOperator]): QueryText =
    new QueryText(operators.map(meaning).foldLeft(Map.empty[ExprId, String])(_ ++ _), ofVariables)

  private def meaning(operator: ChangelogOperator): Map[ExprId, String] = {
    val inputs = operator.inputs.map(meaning)
    val known = inputs.foldLeft(Map.empty[ExprId, String])(_ ++ _)
    val below = new QueryText(known, ofVariables)
    operator match {
      case Source(plan) => named(plan.output)
      case StaticTable(plan) => named(plan.output)
      // The names of a part's columns are those of one of its readers.
      case SharedRows(read) if tellsReaders => read.output.map(_.exprId).zip(read.texts).toMap
      case SharedRows(read) => named(read.output)
      case join: StatelessJoin => named(join.join.output) ++ known
      case Projection(columns, _) => columns.map(c => c.exprId -> below.of(c)).toMap
      case ChangeEvents(columns, _, _) => columns.map(c => c.exprId -> below.of(c)).toMap
      case aggregate: GroupAggregate =>
        known ++ aggregate.results.map(_.exprId).zip(calls(aggregate, below)) ++
          aggregate.panes.toSeq.flatMap(_.bounds).map(bound => bound.exprId -> bound.name)
      case topN: TopN =>
        known ++ topN.rank.map(_.exprId -> topN.places.function.name)
      case over: OverAggregate =>
        known ++ over.results.map(_.exprId).zip(over.calls.map(below.of)) ++
          over.copyNumber.map(_.exprId -> "copy")
      case union: UnionAll => union.output.zipWithIndex.map { case (column, at) =>
          column.exprId -> union.inputs.map { input =>
            below.of(input.output(at))
          }.distinct.mkString(" or ")
        }.toMap
      case expansion: Expansion => expansion.output.zipWithIndex.map { case (column, at) =>
          column.exprId -> expansion.projections.map(row => below.of(row(at))).distinct.mkString(
            " or ")
        }.toMap
      case generation: Generation =>
        val made = below.of(generation.generator)
        known ++ generation.made.zipWithIndex.map { case (c, i) => c.exprId -> s"$made.$i" }
      case join: TableJoin => known + (join.matches.exprId -> "matches")
      case held: HeldSessions =>
        known ++ Seq(held.start.exprId -> "session_start", held.end.exprId -> "session_end")
      case windows: ClosedWindows => named(windows.output) ++ known
      case _: SourceChanges | _: Normalize | _: Selection | _: HeldRows => known
      case _: TemporalJoin => ofBoth(inputs)
      case join: StreamJoin => ofBoth(inputs) ++ join.exists.map(_.exprId -> "exists")
    }
  }

  /** A text that both sides have says of which side the column is. */
  private def ofBoth(sides: Seq[Map[ExprId, String]]): Map[ExprId, String] =
    if (!tellsSides) sides.reduce(_ ++ _)
    else {
      val both = sides.map(_.values.toSet).reduce(_ & _)
      sides.zip(Seq("left.", "right.")).map { case (side, prefix) =>
        side.map { case (id, text) => id -> (if (both(text)) prefix + text else text) }
      }.reduce(_ ++ _)
    }
}

private[changelog] object DescribeMembers {

  /** @param columns the columns read of the result, sorted by name: their order may change */
  final private case class Above(filters: Seq[String], columns: Seq[String]) {
    def text: String =
      s"read ${columns.sorted.mkString(", ")}" +
        (if (filters.isEmpty) "" else filters.sorted.mkString(" where ", ", ", ""))
  }

  final private class Found {
    val members = new IdentityHashMap[ChangelogOperator, MemberRecord]()
    val readers: mutable.ArrayBuffer[(Int, String)] = mutable.ArrayBuffer.empty
  }

  /** Columns of a source by their names. Equal names get a number. */
  private def named(columns: Seq[Attribute]): Map[ExprId, String] =
    columns.groupBy(_.name).values.flatMap { same =>
      same.zipWithIndex.map { case (column, i) =>
        column.exprId -> (if (i == 0) column.name else s"${column.name} #$i")
      }
    }.toMap
}
