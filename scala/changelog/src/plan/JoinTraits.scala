package io.firesteel.changelog.plan

import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute, ExprId, NamedExpression}
import org.apache.spark.sql.catalyst.plans.{FullOuter, Inner, JoinType, LeftOuter, LeftSemi}

/**
 * What changelog inference needs to know of one side of a join of two streams.
 *
 * @param keys the columns that must equal those of the other side
 * @param computed the columns of the projection below; empty if there is none
 */
final private[plan] case class JoinSideFacts(
    facts: Facts,
    keys: Seq[Attribute],
    computed: Seq[NamedExpression]) {

  private val ids: Set[ExprId] = keys.map(_.exprId).toSet

  /** Whether a key of the join has at most one row of this side. */
  val isSingle: Boolean = facts.upsertKeys.exists(_.subsetOf(ids))

  /**
   * Upsert keys that determine the key of the join. The shuffle by the key of the join brings the
   * changes of two rows that agree on another upsert key out of order (Flink does the same).
   */
  val ownKeys: Set[Set[ExprId]] = facts.upsertKeys.filter(own => keys.forall(isOf(own, _)))

  /**
   * The upsert key that spreads rows with a null in the key of the join over tasks. Changes of rows
   * that agree on another one come from several tasks then.
   */
  val identity: Option[Set[ExprId]] = ColumnFacts.smallest(ownKeys)

  /**
   * Whether a row replaces the one with its key of the join: then the row before an update need not
   * come, for state has it. Updates by another upsert key may move a row to another key.
   */
  def replaces: Boolean = facts.changes.updates && facts.upsertKeys == Set(ids)

  /** Whether an update leaves a row with its key of the join, and so with the same matches. */
  def keepsMatches: Boolean = !facts.changes.updates ||
    facts.upsertKeys.size == 1 && ownKeys == facts.upsertKeys

  private def isOf(own: Set[ExprId], key: Attribute): Boolean = own(key.exprId) ||
    computed.exists {
      case alias: Alias if alias.exprId == key.exprId =>
        alias.deterministic && alias.references.forall(column => own(column.exprId))
      case _ => false
    }
}

/** Changes and upsert keys of a join of two streams, from those of its sides. */
private[plan] object JoinTraits {

  /** More keys than these help nobody, and each join could square their number. */
  private val mostKeys = 16

  def upsertKeys(
      joinType: JoinType,
      left: JoinSideFacts,
      right: JoinSideFacts): Set[Set[ExprId]] = joinType match {
    case Inner if left.isSingle || right.isSingle =>
      (if (right.isSingle) left.ownKeys else Set.empty) ++
        (if (left.isSingle) right.ownKeys else Set.empty)
    case Inner =>
      (for (l <- left.ownKeys.toSeq; r <- right.ownKeys.toSeq) yield l ++ r).take(mostKeys).toSet
    // A padded row has no key of the other side, so it could not be told from its match.
    case LeftOuter => if (right.isSingle) left.identity.toSet else Set.empty
    case FullOuter => Set.empty
    case LeftSemi => left.ownKeys
    case _ => left.identity.toSet
  }

  /** The upsert key by which a deletion and an insert of the result become one update. */
  def pairedBy(
      joinType: JoinType,
      left: JoinSideFacts,
      right: JoinSideFacts): Option[Set[ExprId]] = {
    val keys = upsertKeys(joinType, left, right)
    val pairs = joinType != Inner || left.isSingle || right.isSingle
    if (pairs) ColumnFacts.smallest(keys) else None
  }

  /**
   * @param isWhole whether equality of the keys is the whole condition, and no row expires
   */
  def changes(
      joinType: JoinType,
      left: JoinSideFacts,
      right: JoinSideFacts,
      isWhole: Boolean): Changes = {
    val (l, r) = (left.facts.changes, right.facts.changes)
    val onlyAdds = joinType == Inner || joinType == LeftSemi
    if (onlyAdds && l.insertOnly && r.insertOnly) Changes.InsertOnly
    else {
      val paired = pairedBy(joinType, left, right).nonEmpty
      val adds = onlyAdds || joinType == LeftOuter
      val stays = adds && isWhole && !l.deletes && !r.deletes &&
        left.keepsMatches && right.keepsMatches
      Changes(updates = paired, deletes = !(paired && stays))
    }
  }
}
