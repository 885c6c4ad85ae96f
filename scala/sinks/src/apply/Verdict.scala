package io.firesteel.sinks.apply

/**
 * A summary of the changes that tasks have seen, before any of them is applied.
 *
 * @param staged number of net changes
 * @param removed number of deletions among them
 * @param added number of inserts among them whose key the target must not have
 * @param problem the gravest [[Problem]], with its detail
 */
final private[sinks] case class Verdict(
    staged: Long,
    removed: Long,
    added: Long,
    problem: Int,
    detail: String,
    updates: Long,
    befores: Long) {

  def and(other: Verdict): Verdict = {
    val graver = if (other.problem > problem) other else this
    Verdict(
      staged + other.staged,
      removed + other.removed,
      added + other.added,
      graver.problem,
      graver.detail,
      updates + other.updates,
      befores + other.befores)
  }

  /** @param nullsAreKeys whether the target has at most one row per key with nulls */
  def require(changes: ChangeSet, target: String, nullsAreKeys: Boolean): Unit = {
    problem match {
      case Problem.kind => throw ApplyErrors.unknownKind(detail)
      case Problem.notAKey => throw ApplyErrors.notAKey(detail, changes.keyNames)
      case Problem.noOrder => throw ApplyErrors.noOrder(detail)
      case Problem.nullKey if !nullsAreKeys =>
        throw ApplyErrors.nullKey(detail, target, changes.keyNames)
      case _ => ()
    }
    // Either every update has its `-U`, or the changelog has none at all.
    if (updates > 0 && befores == 0 && !changes.upserts && !changes.tellsBefore) {
      throw ApplyErrors.noUpdateBefore()
    }
  }
}

private[sinks] object Verdict {
  val empty: Verdict = Verdict(0, 0, 0, Problem.none, "", 0, 0)
}
