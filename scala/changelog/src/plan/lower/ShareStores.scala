package io.firesteel.changelog.plan.lower

import io.firesteel.changelog.plan.{ChangelogOperator, ColumnFacts, Generation, GroupAggregate, HeldRows, HeldSessions, Normalize, OverAggregate, Projection, Selection, StreamJoin, TableJoin, TemporalJoin, TopN, TopNStrategy}
import io.firesteel.changelog.state.{BegunPlan, PlanVersion}

import java.util.IdentityHashMap

import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SubqueryExpression}
import org.apache.spark.sql.types.BooleanType

/**
 * Which operators keep their state in the store of an operator above them (Flink: MultipleInput): those
 * that need no shuffle between them, with only projections, filters and generators in between, which
 * Spark runs in the same task.
 *
 * Unions and joins with tables between two operators keep them apart: whether Spark shuffles there
 * depends on settings and sizes.
 */
private[lower] object ShareStores {

  /**
   * Whether a part of a condition does not depend on rows. Spark drops what is below a filter that is
   * false for a whole micro-batch.
   */
  def mayBeFalse(condition: Expression): Boolean =
    condition.exists(part => part.dataType == BooleanType && part.references.isEmpty)

  /**
   * The operators that share a store, as they get their numbers; the first one is the host.
   *
   * @param scansKeys whether it finds entries by the first columns of their keys
   * @param isSwept whether a time to live or the watermark takes entries out of it
   */
  final private class Group(val scansKeys: Boolean, val isSwept: Boolean) {
    private[this] var members = 0
    def next(): Int = {
      members += 1
      members - 1
    }
  }

  /** The same places, with the numbers of guests. */
  def apply(
      root: ChangelogOperator,
      placed: IdentityHashMap[ChangelogOperator, Placed],
      begun: BegunPlan): Unit = new ShareStores(
    placed,
    begun.choices.mixesScans,
    begun.version >= PlanVersion.sweptStores).number(root, None)

  /**
   * Whether an operator has several entries of a key and scans them. An answer that is not that of
   * its layout costs time only.
   */
  private def scansKeys(operator: ChangelogOperator): Boolean = operator match {
    case topN: TopN =>
      !topN.places.isFirst || topN.strategy(topN.input.facts) == TopNStrategy.Retract
    case _: OverAggregate => true
    // Rows with a time to live have an entry each.
    case join: StreamJoin => join.ttlMs > 0
    case _ => false
  }
}

/** @param sharesSwept whether stores out of which entries are taken may be shared */
final private class ShareStores(
    placed: IdentityHashMap[ChangelogOperator, Placed],
    mixesScans: Boolean,
    sharesSwept: Boolean) {
  import ShareStores._

  /** @param above the group of the reader, if this operator's rows reach it in their task */
  private def number(operator: ChangelogOperator, above: Option[Group]): Unit = placed.get(
    operator) match {
    case null =>
      val passed = operator match {
        case Selection(condition, _) if ShareStores.mayBeFalse(condition) => None
        case _: Projection | _: Selection | _: Generation if PlaceState.staysInTask(operator) =>
          above
        case _ => None
      }
      operator.inputs.foreach(number(_, passed))
    case its =>
      val (scans, swept) = (scansKeys(operator), isSwept(operator))
      val shared = above.filter { group =>
        canBeGuest(operator) && group.isSwept == swept && (mixesScans || group.scansKeys == scans)
      }
      val group = shared.getOrElse(new Group(scans, swept))
      val own = group.next()
      placed.put(
        operator,
        its.copy(placement = its.placement.copy(guest = shared.map(_ => own))))
      operator.inputs.zip(its.placement.inPlace).foreach { case (input, stays) =>
        number(input, if (stays && takesGuests(operator)) Some(group) else None)
      }
  }

  /** Spark plans the subqueries of an operator's own expressions only if it knows the operator. */
  private def canBeGuest(operator: ChangelogOperator): Boolean = operator match {
    case _ if readsStore(operator) => false
    case join: StreamJoin => !join.condition.exists(SubqueryExpression.hasSubquery)
    case _ => true
  }

  /**
   * Whether an operator reads its whole store when the watermark passes: it emits what it finds, or
   * looks into its entries. It would read those of the others as well, so it has its own store.
   */
  private def readsStore(operator: ChangelogOperator): Boolean =
    !sharesSwept && isSwept(operator) || (operator match {
      case _: HeldRows | _: HeldSessions | _: TemporalJoin => true
      case join: StreamJoin => join.bounds.nonEmpty
      case aggregate: GroupAggregate =>
        aggregate.emitsOnce || aggregate.panes.exists(_.isMarked) || aggregate.closedBy.nonEmpty
      case topN: TopN => topN.once.nonEmpty
      case over: OverAggregate => over.sessionEnd.nonEmpty
      case _ => false
    })

  /**
   * Whether a time to live or the watermark takes entries out of state, and nothing is emitted. They
   * are found by reading the whole store, once for all that share it. Others keep out of it: their
   * entries would be read for nothing.
   */
  private def isSwept(operator: ChangelogOperator): Boolean = operator match {
    case join: StreamJoin => join.ttlMs > 0
    case aggregate: GroupAggregate => aggregate.ttlMs > 0 || isClosed(aggregate.keys, aggregate)
    case topN: TopN => topN.ttlMs > 0 || isClosed(topN.partition, topN)
    case over: OverAggregate => over.ttlMs > 0 || isClosed(over.partition, over)
    case join: TableJoin => join.ttlMs > 0 || isClosed(join.timely, join)
    case normalize: Normalize => normalize.ttlMs > 0
    case _ => false
  }

  private def isClosed(keys: Seq[Attribute], operator: ChangelogOperator): Boolean =
    ColumnFacts.closing(keys, operator.inputs.head.facts).nonEmpty

  private def takesGuests(operator: ChangelogOperator): Boolean =
    !operator.isInstanceOf[TableJoin] && !readsStore(operator)
}
