package io.firesteel.sinks.apply

/**
 * What tasks say of the changes they have seen, before any of them is applied.
 *
 * @param removed of these rows that go
 * @param added of these rows of which the target must not have the key
 * @param problem the gravest [[Problem]], and what it is about
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

  /** @param nullsAreKeys whether the target holds at most one row for a key with nulls */
  def require(changes: ChangeSet, target: String, nullsAreKeys: Boolean): Unit = {
    problem match {
      case Problem.kind => throw ApplyErrors.unknownKind(detail)
      case Problem.notAKey => throw ApplyErrors.notAKey(detail, changes.keyNames)
      case Problem.noOrder => throw ApplyErrors.noOrder(detail)
      case Problem.nullKey if !nullsAreKeys =>
        throw ApplyErrors.nullKey(detail, target, changes.keyNames)
      case _ => ()
    }
    // Every update has its row before, or the changelog has none at all.
    if (updates > 0 && befores == 0 && !changes.upserts && !changes.tellsBefore) {
      throw ApplyErrors.noUpdateBefore()
    }
  }
}

private[sinks] object Verdict {
  val empty: Verdict = Verdict(0, 0, 0, Problem.none, "", 0, 0)
}
