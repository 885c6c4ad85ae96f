package io.firesteel.changelog.sink

import com.github.benmanes.caffeine.cache.{Cache, Caffeine}

/** A table that changes are applied to. */
private[sink] trait Target {

  /** Applies a micro-batch, or passes it over when the target has it. */
  final def write(changes: ChangeSet, by: Writer): Unit = {
    val known = progress()
    if (known.has(by)) {
      if (Target.hasApplied(known.target, by)) throw ApplyErrors.twice(known.target, by)
      consume(changes)
    } else {
      apply(changes, by)
      Target.applied(known.target, by)
    }
  }

  protected def progress(): Progress

  protected def apply(changes: ChangeSet, by: Writer): Unit

  /**
   * Operators with state keep what a micro-batch has changed when its rows are read to the end, and a
   * repeated one must leave its state behind as any other.
   */
  private def consume(changes: ChangeSet): Unit =
    changes.rows.write.format("noop").mode("overwrite").save()
}

private[sink] object Target {

  /** The last micro-batch that a run has applied to a target here: it comes but once in a run. */
  private val last: Cache[(String, String, String), java.lang.Long] =
    Caffeine.newBuilder().maximumSize(1000).build()

  private def hasApplied(target: String, by: Writer): Boolean = by.run.exists { run =>
    Option(last.getIfPresent((target, by.query, run))).exists(_ == by.batch)
  }

  private def applied(target: String, by: Writer): Unit =
    by.run.foreach(run => last.put((target, by.query, run), by.batch))
}
