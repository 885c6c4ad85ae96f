package io.firesteel.changelog

import org.apache.spark.sql.catalyst.expressions.{Alias, ExprId, NamedExpression}
import org.apache.spark.sql.types.{Metadata, MetadataBuilder}

/**
 * What the column of kinds says, in its metadata, of the changelog that it is of: so that a table to
 * which the changes are applied can tell whether its own keys will do (Flink: a sink's primary key takes
 * part in the update-before decision).
 *
 * @param keys each of them columns that tell rows apart, changes of one of which come in their order
 * @param updateBefore whether the row that an update replaces is told, if there are updates
 */
final private[changelog] case class ToldChanges(keys: Seq[Seq[String]], updateBefore: Boolean) {

  private def metadata: Metadata = {
    val of = new MetadataBuilder().putBoolean("updateBefore", updateBefore)
    keys.zipWithIndex.foreach { case (key, i) => of.putStringArray(s"key$i", key.toArray) }
    new MetadataBuilder().putMetadata(ToldChanges.name, of.build()).build()
  }
}

private[changelog] object ToldChanges {

  private val name = "firesteel.changelog"

  /** What a column of kinds says, if it comes from the query as it is. */
  def of(column: Metadata): Option[ToldChanges] =
    if (!column.contains(name)) None
    else {
      val told = column.getMetadata(name)
      val keys = Iterator.from(0).map(i => s"key$i").takeWhile(told.contains)
      Some(ToldChanges(
        keys.map(told.getStringArray(_).toSeq).toSeq,
        told.getBoolean("updateBefore")))
    }

  /** The query's columns, of which that of kinds says it. */
  def mark(columns: Seq[NamedExpression], query: Inferred): Seq[NamedExpression] =
    traced(query).fold(columns) { events =>
      val names = columns.map(c => c.exprId -> c.name).toMap
      val keys = events.keys.filter(_.forall(names.contains)).map(_.map(names).toSeq.sorted)
      val told = ToldChanges(keys.toSeq.sortBy(_.mkString(",")), events.updateBefore)
      columns.map { column =>
        if (events.kinds(column.exprId)) column.toAttribute.withMetadata(told.metadata) else column
      }
    }

  final private case class Events(
      keys: Set[Set[ExprId]],
      kinds: Set[ExprId],
      updateBefore: Boolean)

  /** From where kinds become a column up to the result; nothing where rows are left out on the way. */
  private def traced(query: Inferred): Option[Events] = query.operator match {
    case ChangeEvents(columns, updateBefore, _) =>
      val from = query.inputs.head
      val kinds = columns.collect { case alias @ Alias(_: RowKindFunction, _) => alias.exprId }
      val told = !from.changes.updates || updateBefore && from.updateBefore
      Some(Events(ColumnFacts.mapKeys(columns, from.facts.upsertKeys), kinds.toSet, told))
    case Projection(columns, _) =>
      traced(query.inputs.head).map { events =>
        val renamed = ColumnFacts.renamed(columns)
        events.copy(
          keys = ColumnFacts.mapKeys(columns, events.keys),
          kinds = renamed.collect { case (from, to) if events.kinds(from) => to }.toSet)
      }
    case _ => None
  }
}
