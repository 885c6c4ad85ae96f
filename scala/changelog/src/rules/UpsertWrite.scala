package io.firesteel.changelog.rules

import io.firesteel.changelog.common.ChangelogErrors
import io.firesteel.changelog.plan.{Inferred, ResultKeys}
import io.firesteel.changelog.state.PlanVersion
import io.firesteel.changelog.upsert.ToUpsert
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, Cast}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project, SubqueryAlias, View}
import org.apache.spark.sql.streaming.OutputMode

/**
 * A streaming query that writes the records of `to_upsert`.
 *
 * The topic does not tell which rows of a key it had, so two rows of one key could not be told from
 * an update: a deletion of one of them would delete the other. So the keys must contain an upsert
 * key of the query.
 */
private[rules] object UpsertWrite {

  def of(query: LogicalPlan): Option[ToUpsert] =
    query.collectFirst { case records: ToUpsert => records }

  /**
   * The query whose changes are written. A view of SQL casts each column to the type that it has;
   * without the casts its columns are those of the keys. Other queries keep the casts, as their
   * state in a checkpoint depends on the keys that are known.
   */
  def rows(records: ToUpsert): LogicalPlan = records.child.transform {
    case project: Project =>
      project.copy(projectList = project.projectList.map {
        case alias @ Alias(cast: Cast, name)
            if cast.child.isInstanceOf[Attribute] && cast.child.dataType == cast.dataType =>
          Alias(cast.child, name)(alias.exprId, alias.qualifier, Some(alias.metadata))
        case other => other
      })
  }

  /**
   * @param plan the changes of the query below `to_upsert`
   * @param inferred its operators
   * @param version of its plan: the keys of a topic stay as they were
   */
  def apply(
      query: LogicalPlan,
      records: ToUpsert,
      mode: OutputMode,
      plan: LogicalPlan,
      inferred: Inferred,
      version: Int): LogicalPlan = {
    if (mode == OutputMode.Complete()) throw wrong("complete mode has no changes", "append mode")
    requireLast(query)
    requireKeys(records, inferred)
    val kind = plan.output.lastOption.filter(_ => plan.output.size > records.child.output.size)
    query.transform {
      case _: ToUpsert => records.records(plan, kind, version >= PlanVersion.fractionsOfKeys)
    }
  }

  /** Records may be selected and filtered; a count of them would not be one of rows. */
  private def requireLast(query: LogicalPlan): Unit = query match {
    case _: ToUpsert => ()
    case _: Project | _: Filter | _: SubqueryAlias | _: View => query.children.foreach(requireLast)
    case other => throw wrong(s"${other.nodeName} stands above it", "to_upsert of the whole query")
  }

  private def requireKeys(records: ToUpsert, inferred: Inferred): Unit = {
    val keys = records.keys.map(_.exprId).toSet
    val known = ResultKeys(inferred.operator)
    if (!known.exists(_.subsetOf(keys))) {
      val names = records.child.output.map(c => c.exprId -> c.name).toMap
      throw ChangelogErrors.notAKey(
        records.keys.map(_.name),
        known.toSeq.map(_.toSeq.flatMap(names.get).sorted).filter(_.nonEmpty))
    }
  }

  private def wrong(reason: String, instead: String): Throwable =
    ChangelogErrors.unsupportedOperator("to_upsert", reason, instead)
}
