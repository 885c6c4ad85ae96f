package io.firesteel.changelog.sink

/** A table that changes are applied to. */
private[sink] trait Target {

  /** Applies a micro-batch, or passes it over when the target has it. */
  final def write(changes: ChangeSet, by: Writer): Unit =
    if (progress().has(by)) consume(changes) else apply(changes, by)

  protected def progress(): Progress

  protected def apply(changes: ChangeSet, by: Writer): Unit

  /**
   * Operators with state keep what a micro-batch has changed when its rows are read to the end, and a
   * repeated one must leave its state behind as any other.
   */
  private def consume(changes: ChangeSet): Unit =
    changes.rows.write.format("noop").mode("overwrite").save()
}
