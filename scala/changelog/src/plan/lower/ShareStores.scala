package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.plan.{ChangelogOperator, Generation, Projection, Selection, StreamJoin, TableJoin}

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.expressions.SubqueryExpression

/**
 * Which operators keep their state in the store of an operator above them (Flink: MultipleInput): those
 * that need no shuffle between them, with only projections, filters and generators in between, which
 * Spark runs in the same task.
 *
 * Unions and joins with tables between two operators keep them apart: whether Spark shuffles there
 * depends on settings and sizes.
 */
private[lower] object ShareStores {

  /** The operators that share a store, as they get their numbers; the first one is the host. */
  final private class Group {
    private[this] var members = 0
    def next(): Int = {
      members += 1
      members - 1
    }
  }

  /** The same places, with the numbers of guests. */
  def apply(
      root: ChangelogOperator,
      placed: IdentityHashMap[ChangelogOperator, Placed]): Unit = number(root, None, placed)

  /** @param above the group of the reader, if this operator's rows reach it in their task */
  private def number(
      operator: ChangelogOperator,
      above: Option[Group],
      placed: IdentityHashMap[ChangelogOperator, Placed]): Unit = placed.get(operator) match {
    case null =>
      val passed = operator match {
        case _: Projection | _: Selection | _: Generation => above
        case _ => None
      }
      operator.inputs.foreach(number(_, passed, placed))
    case its =>
      val shared = above.filter(_ => canBeGuest(operator))
      val group = shared.getOrElse(new Group)
      val own = group.next()
      placed.put(
        operator,
        its.copy(placement = its.placement.copy(guest = shared.map(_ => own))))
      operator.inputs.zip(its.placement.inPlace).foreach { case (input, stays) =>
        number(input, if (stays && takesGuests(operator)) Some(group) else None, placed)
      }
  }

  /** Spark plans the subqueries of an operator's own expressions only if it knows the operator. */
  private def canBeGuest(operator: ChangelogOperator): Boolean = operator match {
    case join: StreamJoin => !join.condition.exists(SubqueryExpression.hasSubquery)
    case _ => true
  }

  private def takesGuests(operator: ChangelogOperator): Boolean = !operator.isInstanceOf[TableJoin]
}
