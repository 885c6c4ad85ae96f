package io.firesteel.changelog.sql

import io.firesteel.core.changes.RowKind
import io.firesteel.core.rows.PlainStrings
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Cast, CreateNamedStruct, EqualTo, Expression, GetStructField, GreaterThan, If, IsNotNull, Literal, NamedExpression, ReplicateRows, StructsToJson}
import org.apache.spark.sql.catalyst.expressions.aggregate.{MaxBy, Sum}
import org.apache.spark.sql.catalyst.expressions.variant.SchemaOfVariant
import org.apache.spark.sql.catalyst.plans.logical.{Aggregate, Filter, Generate, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.firesteel.{Files, hasType}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.VariantType

/** The table that a changelog leaves in a batch query, written with Spark's own operators. */
private[sql] object TableOfChanges {

  def apply(source: FromChangelog): LogicalPlan = {
    val kind = Alias(SourceKinds.read(source.opColumn, source.keys.nonEmpty), "row_kind")()
    if (source.keys.isEmpty) counted(source, kind)
    else if (source.sequenceColumns.isEmpty) newest(source, kind)
    else newestBySequence(source, kind)
  }

  private def comes(kind: Expression): Expression = EqualTo(kind, Literal(RowKind.Insert))

  /**
   * Each row as often as it was inserted, minus the times it was deleted. Rows are told apart by their
   * bytes, but for zeros and NaN, as on a stream.
   */
  private def counted(source: FromChangelog, kind: Alias): LogicalPlan = {
    val columns = source.output
    val sign = If(comes(kind.toAttribute), Literal(1L), Literal(-1L))
    val copies = Alias(Sum(sign).toAggregateExpression(), "copies")()
    val others = columns.flatMap(c => toldApart(c).map(value => c -> Alias(value, c.name)())).toMap
    val keys = columns.map(c => others.get(c).fold(c)(_.toAttribute))
    val kept = columns.map { c =>
      others.get(c).fold[NamedExpression](c) { key =>
        Alias(MaxBy(c, key.toAttribute).toAggregateExpression(), c.name)()
      }
    }
    val changes = Project(columns ++ others.values :+ kind, source.child)
    val counts = Aggregate(keys, kept :+ copies, changes)
    val there = Filter(GreaterThan(copies.toAttribute, Literal(0L)), counts)
    val rows = columns.map(_.newInstance())
    val all =
      Generate(
        ReplicateRows(copies.toAttribute +: kept.map(_.toAttribute)),
        unrequiredChildIndex = Nil,
        outer = false,
        qualifier = None,
        generatorOutput = rows,
        child = there)
    Project(rows.zip(columns).map { case (row, column) => as(column, row) }, all)
  }

  /** What tells values of a column apart, if Spark's equality does not. */
  private def toldApart(column: Attribute): Option[Expression] =
    if (hasType(column.dataType) { case VariantType => true }) Some(written(column))
    else Some(PlainStrings.of(column.dataType)).filter(_ != column.dataType).map(Cast(column, _))

  /** As JSON, which has no sign of a variant's type but for texts. */
  private def written(column: Attribute): Expression = {
    val options = Map("ignoreNullFields" -> "false")
    val row = CreateNamedStruct(Seq(Literal(column.name), column))
    val json = StructsToJson(options, row, Some(SQLConf.get.sessionLocalTimeZone))
    val itsType = if (column.dataType == VariantType) Seq(SchemaOfVariant(column)) else Nil
    named(json +: itsType)
  }

  /** The last row of each key by its position in its input partition, unless it is a deletion. */
  private def newest(source: FromChangelog, kind: Alias): LogicalPlan = {
    val arrival = Alias(Arrival(), "arrival")()
    val numbered = Project(source.output :+ kind :+ arrival, source.child)
    val row = named(source.output :+ kind.toAttribute)
    val last = Alias(MaxBy(row, arrival.toAttribute).toAggregateExpression(), "last")()
    val isThere = comes(GetStructField(last.toAttribute, source.output.size))
    shown(source, last, isThere, numbered)
  }

  /** The last row of each key by the sequence, if there is one; see [[LastChange]]. */
  private def newestBySequence(source: FromChangelog, kind: Alias): LogicalPlan = {
    val arrival = Alias(Arrival(), "arrival")()
    val numbered = Project(source.output :+ kind :+ arrival, source.child)
    val sequence = source.sequenceColumns.map(by => source.output.indexWhere(_.exprId == by.exprId))
    val change = LastChange(
      source.output :+ kind.toAttribute :+ arrival.toAttribute,
      sequence,
      Files.asNullable(DataTypeUtils.fromAttributes(source.output)))
    val last = Alias(change.toAggregateExpression(), "last")()
    shown(source, last, IsNotNull(last.toAttribute), numbered)
  }

  /** The rows of keys that still have a row. */
  private def shown(
      source: FromChangelog,
      last: Alias,
      isThere: Expression,
      changes: LogicalPlan): LogicalPlan = {
    val byKey = Aggregate(source.keyColumns, source.keyColumns :+ last, changes)
    val columns = source.output.zipWithIndex.map { case (column, i) =>
      val isKey = source.keyColumns.exists(_.exprId == column.exprId)
      as(column, if (isKey) column else GetStructField(last.toAttribute, i))
    }
    Project(columns, Filter(isThere, byKey))
  }

  private def named(columns: Seq[Expression]): Expression =
    CreateNamedStruct(columns.zipWithIndex.flatMap { case (column, i) =>
      Seq(Literal(s"c$i"), column)
    })

  /** Keeps the id of the column, because resolved parts of the query already read it. */
  private def as(column: Attribute, value: Expression): NamedExpression =
    if (value == column) column else Alias(value, column.name)(column.exprId, column.qualifier)
}
