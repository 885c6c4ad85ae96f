package io.firesteel.changelog.sql

import io.firesteel.core.changes.RowKind
import org.apache.spark.sql.catalyst.expressions.{Alias, And, Attribute, Cast, CreateNamedStruct, EqualNullSafe, EqualTo, Expression, GetStructField, GreaterThan, If, IsNotNull, Literal, MonotonicallyIncreasingID, NamedExpression, Not, ReplicateRows, RowOrdering}
import org.apache.spark.sql.catalyst.expressions.aggregate.{MaxBy, Sum}
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Generate, LogicalPlan, Project}
import org.apache.spark.sql.firesteel.{comparesBytes, hasType}
import org.apache.spark.sql.types.{BinaryType, StringType}

/** The table that a changelog in a batch query leaves behind, by Spark's own operators. */
private[sql] object TableOfChanges {

  def apply(source: FromChangelog): LogicalPlan = {
    val kind = Alias(SourceKinds.read(source.opColumn, source.keys.nonEmpty), "row_kind")()
    if (source.keys.isEmpty) counted(source, kind) else newest(source, kind)
  }

  private def comes(kind: Expression): Expression = EqualTo(kind, Literal(RowKind.Insert))

  /** Each row as often as it came, less as often as it went. */
  private def counted(source: FromChangelog, kind: Alias): LogicalPlan = {
    val columns = source.output
    val sign = If(comes(kind.toAttribute), Literal(1L), Literal(-1L))
    val copies = Alias(Sum(sign).toAggregateExpression(), "copies")()
    val counts =
      Aggregate(columns, columns :+ copies, Project(columns :+ kind, source.child))
    val there = Filter(GreaterThan(copies.toAttribute, Literal(0L)), counts)
    val rows = columns.map(_.newInstance())
    val all =
      Generate(
        ReplicateRows(copies.toAttribute +: columns),
        unrequiredChildIndex = Nil,
        outer = false,
        qualifier = None,
        generatorOutput = rows,
        child = there)
    Project(rows.zip(columns).map { case (row, column) => as(column, row) }, all)
  }

  /**
   * Each key's last row, if that is not a deletion: the last by the sequence, and then by its place in its
   * input partition; see [[ArrivalOrder]] for what an update has replaced.
   */
  private def newest(source: FromChangelog, kind: Alias): LogicalPlan = {
    val arrival = Alias(MonotonicallyIncreasingID(), "arrival")()
    val numbered = Project(source.output :+ kind :+ arrival, source.child)
    val (kindAt, sequence) = (source.output.size, source.sequenceColumns)
    val row = named(source.output :+ kind.toAttribute :+ arrival.toAttribute)
    val isBefore = EqualTo(kind.toAttribute, Literal(RowKind.UpdateBefore))
    def lastBy(order: Seq[Expression], filter: Option[Expression]) = {
      val by = named(order :+ arrival.toAttribute)
      Alias(MaxBy(row, by).toAggregateExpression(isDistinct = false, filter), "last")()
    }
    val isAfter = if (sequence.isEmpty) Nil else Seq(Not(isBefore))
    val last = lastBy(sequence ++ isAfter, None)
    val replaced = if (sequence.isEmpty) None else Some(lastBy(sequence, Some(isBefore)))
    val byKey =
      Aggregate(source.keyColumns, source.keyColumns ++ (last +: replaced.toSeq), numbered)
    def of(alias: Alias, at: Int) = GetStructField(alias.toAttribute, at)
    // The very row went after it had come.
    val gone = replaced.map { before =>
      val same = source.output.indices
        .map(at => EqualNullSafe(exact(of(before, at)), exact(of(last, at))))
      val later = GreaterThan(of(before, kindAt + 1), of(last, kindAt + 1))
      (IsNotNull(before.toAttribute) +: same :+ later).reduce[Expression](And(_, _))
    }
    val isThere = comes(of(last, kindAt))
    val there = Filter(gone.fold[Expression](isThere)(g => And(isThere, Not(g))), byKey)
    val columns = source.output.zipWithIndex.map { case (column, i) =>
      val isKey = source.keyColumns.exists(_.exprId == column.exprId)
      as(column, if (isKey) column else GetStructField(last.toAttribute, i))
    }
    Project(columns, there)
  }

  /** What is compared, so that equal is what is the same. */
  private def exact(value: Expression): Expression = value.dataType match {
    case string: StringType if !comparesBytes(string) => Cast(value, BinaryType)
    case other
        if RowOrdering.isOrderable(other) && !hasType(other) {
          case string: StringType => !comparesBytes(string)
        } => value
    case _ => ValueText.of(value)
  }

  private def named(columns: Seq[Expression]): Expression =
    CreateNamedStruct(columns.zipWithIndex.flatMap { case (column, i) =>
      Seq(Literal(s"c$i"), column)
    })

  /** The column by its own id: parts of the query that are resolved already read it so. */
  private def as(column: Attribute, value: Expression): NamedExpression =
    if (value == column) column else Alias(value, column.name)(column.exprId, column.qualifier)
}
