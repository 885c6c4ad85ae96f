package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.plan.{ChangelogOperator, GroupAggregate, Projection, Selection, Source, TopN}

import org.apache.spark.sql.catalyst.expressions.{And, Attribute, AttributeSet, Expression, Or, PredicateHelper}
import org.apache.spark.sql.catalyst.plans.logical.EventTimeWatermark

/**
 * What all readers of a shared part ask of its keys stands below it, as one reader's would: state has
 * no groups then that nobody reads. Only over rows that only come: of others the filter would be in the
 * checkpoint's record, and it is another one when a statement leaves. Nor above a watermark, which the
 * rows that it leaves out would not move.
 *
 * @param isFree whether a condition may be evaluated once more
 */
private[changelog] class ReadersBelow(isFree: Expression => Boolean) extends PredicateHelper {

  /** @param readers the condition above each place that reads the part */
  def apply(part: ChangelogOperator, readers: Seq[Expression]): ChangelogOperator = part match {
    case _ if readers.isEmpty => part
    case Projection(columns, below) if columns.forall(_.deterministic) =>
      val meaning = getAliasMap(columns)
      Projection(columns, apply(below, readers.map(replaceAlias(_, meaning))))
    case groups: GroupAggregate
        if !groups.emitsOnce && groups.closedBy.isEmpty && groups.panes.isEmpty =>
      groups.copy(input = narrowed(groups.input, groups.keys, readers))
    case top: TopN if top.once.isEmpty =>
      top.copy(input = narrowed(top.input, top.partition, readers))
    case other => other
  }

  private def narrowed(
      input: ChangelogOperator,
      keys: Seq[Attribute],
      readers: Seq[Expression]): ChangelogOperator = {
    val known = AttributeSet(keys)
    // What stands behind a user's function is asked only of rows that it lets pass.
    val asked = readers.map(splitConjunctivePredicates(_).takeWhile(isFree).filter { its =>
      its.references.nonEmpty && its.references.subsetOf(known) && !ShareStores.mayBeFalse(its)
    })
    if (!input.facts.changes.insertOnly || asked.exists(_.isEmpty) || hasWatermark(input)) input
    else Selection(asked.map(_.reduce[Expression](And(_, _))).reduce[Expression](Or(_, _)), input)
  }

  private def hasWatermark(operator: ChangelogOperator): Boolean = operator match {
    case Source(plan) => plan.exists(_.isInstanceOf[EventTimeWatermark])
    case other => other.inputs.exists(hasWatermark)
  }
}
