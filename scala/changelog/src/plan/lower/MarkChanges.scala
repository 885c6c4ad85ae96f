package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.plan.{ChangeEvents, ColumnFacts, Inferred, Projection, ResultKeys, Selection}
import io.firesteel.changelog.sql.RowKindFunction
import io.firesteel.core.changes.ChangelogMetadata
import org.apache.spark.sql.catalyst.expressions.{Alias, ExprId, NamedExpression}

/** Writes [[ChangelogMetadata]] onto the result's column of kinds. */
private[changelog] object MarkChanges {

  /** The query's columns. A column of kinds that is passed on unchanged gets the metadata. */
  def apply(columns: Seq[NamedExpression], query: Inferred): Seq[NamedExpression] =
    traced(query).fold(columns) { events =>
      val names = columns.map(c => c.exprId -> c.name).toMap
      val keys = events.keys.filter(_.forall(names.contains)).map(_.map(names).toSeq.sorted)
      val said = ChangelogMetadata(
        keys.toSeq.sortBy(_.mkString(",")),
        events.updateBefore,
        events.filtered)
      columns.map { column =>
        if (events.kinds(column.exprId)) column.toAttribute.withMetadata(said.metadata) else column
      }
    }

  /** @param choosing columns computed from a kind, that column among them */
  final private case class Events(
      keys: Set[Set[ExprId]],
      kinds: Set[ExprId],
      choosing: Set[ExprId],
      updateBefore: Boolean,
      filtered: Boolean)

  /** Follows `row_kind()` up to the result; none if a filter chooses kinds on the way. */
  private def traced(query: Inferred): Option[Events] = query.operator match {
    case ChangeEvents(columns, updateBefore, _) =>
      val from = query.inputs.head
      val kinds = columns.collect { case alias @ Alias(_: RowKindFunction, _) => alias.exprId }
      val said = !from.changes.updates || updateBefore && from.updateBefore
      Some(Events(
        ColumnFacts.mapKeys(columns, ResultKeys(from.operator)),
        kinds.toSet,
        columns.filter(RowKindFunction.isIn(_)).map(_.exprId).toSet,
        said,
        filtered = false))
    case Projection(columns, _) =>
      traced(query.inputs.head).map { events =>
        val renamed = ColumnFacts.renamed(columns)
        events.copy(
          keys = ColumnFacts.mapKeys(columns, events.keys),
          kinds = renamed.collect { case (from, to) if events.kinds(from) => to }.toSet,
          choosing = columns.filter(_.references.exists(c => events.choosing(c.exprId)))
            .map(_.exprId).toSet
        )
      }
    // A filter of keys passes both sides of an update, or none.
    case Selection(condition, _) =>
      val asked = condition.references.map(_.exprId).toSet
      traced(query.inputs.head).filterNot(events => asked.exists(events.choosing)).map { events =>
        val ofKeys = condition.deterministic && asked.nonEmpty && events.keys.nonEmpty &&
          events.keys.forall(asked.subsetOf)
        events.copy(filtered = events.filtered || !ofKeys)
      }
    case _ => None
  }
}
